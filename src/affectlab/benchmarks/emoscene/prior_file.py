"""A prior that was learned elsewhere."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from affectlab.benchmarks.emoscene.ising import J_OF, K_OF, L, Priors, fit_priors, prior_of
from affectlab.benchmarks.emoscene.record import EMOTIONS, PRESENT, Scenario, to_item
from affectlab.errors import UserError
from affectlab.items.load import load_items


def read_prior(path: str) -> Priors:
    """The prior in a file: one that :func:`write_prior` made, or scenarios with gold, to whose emotions one is fitted.

    Raises:
        UserError: When there is no such file, or it holds neither.
    """
    file = Path(path)
    if not file.is_file():
        raise UserError(f"--set prior={path}: there is no such file.")
    saved = _saved(file)
    if saved is not None:
        return _checked(path, saved)
    items = load_items(path, {}, record=Scenario, to_item=to_item)
    golds = [[item.gold[slot] == PRESENT for slot in EMOTIONS.ids] for item in items if item.gold]
    if len(golds) < 2:
        raise UserError(f"--set prior={path}: it holds {len(golds)} scenarios with gold; a prior needs more.")
    return fit_priors(np.array(golds), np.ones((1, len(golds))))


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
