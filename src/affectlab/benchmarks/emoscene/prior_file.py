"""A prior that was learned elsewhere."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from affectlab.benchmarks.emoscene.ising import FEWEST, J_OF, K_OF, L, Priors, fit_priors, prior_of
from affectlab.benchmarks.emoscene.record import EMOTIONS, PRESENT, Scenario, to_item
from affectlab.errors import UserError
from affectlab.items import Item, Loaded
from affectlab.items.duplicates import leakage
from affectlab.items.load import load_items


def read_prior(path: str) -> Priors:
    """The prior in a file: one that :func:`write_prior` made, or scenarios with gold, to whose emotions one is fitted.

    Raises:
        UserError: When there is no such file, it holds neither, or too few scenarios.
    """
    file = Path(path)
    if not file.is_file():
        raise UserError(f"--set prior={path}: there is no such file.")
    saved = _saved(file)
    if saved is not None:
        return _checked(path, saved)
    items = [item for item in _scenarios(path) if item.gold]
    clusters = len({item.cluster for item in items})
    if clusters < FEWEST:
        raise UserError(
            f"--set prior={path}: it holds {clusters} independent scenarios with gold; a prior needs {FEWEST}."
        )
    golds = [[item.gold[slot] == PRESENT for slot in EMOTIONS.ids] for item in items]
    return fit_priors(np.array(golds), np.ones((1, len(golds))))


def refuse_shared(path: str, asked: Iterable[Item]) -> None:
    """Refuse a prior that would be fitted to the gold of scenarios that are asked about.

    Args:
        path: The prior's file. One that :func:`write_prior` made does not say what it was fitted to.
        asked: The scenarios of the run.

    Raises:
        UserError: When a text stands in both, or nearly so.
    """
    if _saved(Path(path)) is not None:
        return
    fitted = {item.id: item.inputs["text"] for item in _scenarios(path) if item.gold}
    pairs = leakage(fitted, {item.id: item.inputs["text"] for item in asked})
    if pairs:
        first = pairs[0]
        raise UserError(
            f"--set prior={path}: {len(pairs)} of the scenarios asked about stand in it, or nearly so ({first.b!r} is "
            f"its {first.a!r}): the prior would know their gold. Take other scenarios; without prior= each is decided "
            "by a prior of the other folds."
        )


def _scenarios(path: str) -> Loaded:
    return load_items(path, {}, record=Scenario, to_item=to_item)


def write_prior(path: str | Path, priors: Priors) -> None:
    """Write a prior so that :func:`read_prior` gives the same back: ``labels``, ``h`` [8], ``J`` [8, 8]."""
    couplings = np.zeros((L, L))
    couplings[J_OF, K_OF] = couplings[K_OF, J_OF] = priors.parameters[0, L:]
    data = {"labels": list(EMOTIONS.ids), "h": priors.parameters[0, :L].tolist(), "J": couplings.tolist()}
    Path(path).write_text(json.dumps(data, allow_nan=False, indent=2) + "\n", encoding="utf-8")


def digest(path: str) -> str:
    """First twelve digits of the file's SHA-256, for the signature of scores."""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()[:12]


def _saved(file: Path) -> dict[str, Any] | None:
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError):
        return None
    return data if isinstance(data, dict) and {"h", "J"} <= data.keys() else None


def _checked(path: str, data: dict[str, Any]) -> Priors:
    if data.get("labels") != list(EMOTIONS.ids):
        raise UserError(f"--set prior={path}: its labels must be {', '.join(EMOTIONS.ids)}, in this order.")
    try:
        h, couplings = np.array(data["h"], dtype=float), np.array(data["J"], dtype=float)
    except (TypeError, ValueError):
        h, couplings = np.empty(0), np.empty(0)
    finite = np.isfinite(h).all() and np.isfinite(couplings).all()
    if h.shape != (L,) or couplings.shape != (L, L) or not finite or not np.allclose(couplings, couplings.T):
        raise UserError(f"--set prior={path}: h must be eight finite numbers and J eight times eight, symmetric.")
    return prior_of(h, couplings)
