"""Items of a study from a file: through a benchmark's own loader, or as rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import as_file
from typing import Any

from affectlab.annotate.design import Design
from affectlab.annotate.units import Unit, make_unit
from affectlab.errors import UserError
from affectlab.items import Item

_OTHER = {"positive": "negative", "negative": "positive"}


def read_units(design: Design, source: str, fields: Mapping[str, str] | None = None) -> list[Unit]:
    """Items of a file as units of a design.

    Args:
        design: Says which benchmark's loader reads the file, if any.
        source: What the loader takes.
        fields: Our field name -> the file's.

    Raises:
        UserError: Listing what is wrong in the file.
        WorldError: When the disk or the hub fails.
    """
    if design.benchmark:
        from affectlab.benchmarks import open_benchmark

        loaded = open_benchmark(design.benchmark).load(source, dict(fields or {}), {})
        return [make_unit(design, item.id, item_fields(design, item), item.slices) for item in loaded]
    return _rows(design, source, fields or {})


@contextmanager
def bundled_source(design: Design) -> Iterator[str | None]:
    """Path of the items that come along with the design's benchmark; ``None`` where none do."""
    if not design.benchmark:
        yield None
        return
    from affectlab.benchmarks import open_benchmark

    with as_file(open_benchmark(design.benchmark).sample) as path:
        yield str(path)


def item_fields(design: Design, item: Item) -> dict[str, Any]:
    """Fields of a benchmark's item, with those that the design's slots and pages need besides.

    Raises:
        UserError: When a Chiaro scene does not say whose feeling is good.
    """
    found = dict(item.inputs)
    if design.benchmark == "chiaro":
        found |= _polarities(item)
    if design.benchmark == "decisions":
        found |= _game(item)
    return found


def _polarities(item: Item) -> dict[str, str]:
    """Which side of the event each agent is on; it decides the five options, and the gold label says no more here."""
    from affectlab.benchmarks.chiaro.protocols import polarity

    try:
        first = polarity(item, "A")
    except UserError as error:
        raise UserError(
            f"Scene {item.id!r} does not say whose feeling is good: it needs agent_a_polarity (positive or negative), "
            "or gold, which is not shown."
        ) from error
    return {"polarity_A": first, "polarity_B": _OTHER[first]}


def _game(item: Item) -> dict[str, Any]:
    """What a decision is to be checked against: its game in words, its role, its payoffs, its options as texts."""
    from affectlab.games.catalogue import GAMES

    game = GAMES[item.slices["game"]]
    role = game.role(item.slices["role"])
    payoffs = item.inputs.get("payoffs") or {}
    return {
        "game": "\n".join((f"{game.title}. {game.about}", *game.rules)),
        "role": f"{role.title}: {role.decides}",
        "payoffs": ", ".join(f"{name} = {value:g}" for name, value in payoffs.items()),
        "options": [option["text"] for option in item.inputs["options"]],
    }


def _rows(design: Design, source: str, fields: Mapping[str, str]) -> list[Unit]:
    from affectlab.items import DataError, read_rows
    from affectlab.items.personal import drop_personal

    named = {shown.field for shown in design.shown} | {"id"}
    rows, _ = drop_personal(read_rows(source, fields), keep=named)
    there = dict.fromkeys(name for row in rows for name in row.data)
    if missing := [shown.field for shown in design.shown if shown.main and shown.field not in there]:
        raise UserError(
            f"{source} has no column {missing[0]!r}, which the design shows. It has: {', '.join(there)}. "
            f"Say which one is meant: --map {missing[0]}=COLUMN"
        )
    units, problems = [], []
    for number, row in enumerate(rows, 1):
        try:
            units.append(make_unit(design, str(row.data.get("id") or f"row-{number}"), row.data))
        except UserError as error:
            problems.append(row.problem("", "a row that makes no item", str(error)))
    if problems:
        raise DataError(source, problems)
    return units
