"""Data sets of the Hugging Face hub, read through the ``datasets`` library when the user has it."""

from __future__ import annotations

import inspect
from types import ModuleType
from typing import Any

from affectlab.errors import UserError, WorldError
from affectlab.items.parse import Row
from affectlab.items.source import HUB


def read_hub(source: str) -> list[Row]:
    """Rows of one split of a hub data set. Code that comes with a data set is never run.

    Args:
        source: ``hub:NAME`` when the data set has one split, else ``hub:NAME:SPLIT``.

    Raises:
        UserError: When ``datasets`` is absent, the data set or split is unknown, or a split must be named.
        WorldError: When the hub cannot be reached.
    """
    name, _, split = source.removeprefix(HUB).partition(":")
    if not name:
        raise UserError(f"{source!r} names no data set; write hub:NAME or hub:NAME:SPLIT")
    datasets = _library()
    # Older versions ask at the terminal unless told; newer ones have no such argument any more.
    never = (
        {"trust_remote_code": False}
        if "trust_remote_code" in inspect.signature(datasets.load_dataset).parameters
        else {}
    )
    try:
        loaded: Any = datasets.load_dataset(name, **never)
    except FileNotFoundError as error:
        raise UserError(f"the hub has no data set {name!r} that may be read; check its name ({error})") from error
    except (ConnectionError, TimeoutError) as error:
        raise WorldError(f"the hub cannot be reached for {name!r}: {error}; try again with a network") from error
    except (ValueError, RuntimeError) as error:
        raise UserError(f"the data set {name!r} cannot be loaded: {error}") from error
    except OSError as error:
        raise WorldError(f"the data set {name!r} cannot be fetched: {error}") from error
    splits = list(loaded)
    if split and split not in splits:
        raise UserError(f"the data set {name!r} has no split {split!r}; it has: {', '.join(splits)}")
    if not split and len(splits) != 1:
        raise UserError(
            f"the data set {name!r} has several splits; write {HUB}{name}:SPLIT with one of {', '.join(splits)}"
        )
    return [Row(number, dict(row), number) for number, row in enumerate(loaded[split or splits[0]], 1)]


def _library() -> ModuleType:
    try:
        import datasets
    except ImportError as error:
        raise UserError("reading from the hub needs the datasets library: pip install affectlab[hub]") from error
    module: ModuleType = datasets
    return module
