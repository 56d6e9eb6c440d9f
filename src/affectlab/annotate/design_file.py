"""Reading a design: one of the five that come along, or a TOML file."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from affectlab.annotate.design import Design, Probe
from affectlab.annotate.keys import shortcuts
from affectlab.annotate.slots import NUMERIC, Slot
from affectlab.annotate.units import make_unit
from affectlab.annotate.values import Reply, checked
from affectlab.errors import UserError, did_you_mean
from affectlab.items.source import read_text


def design_names() -> tuple[str, ...]:
    """Names of the designs that come along, sorted."""
    return tuple(sorted(_bundled("designs")))


def read_design(name: str) -> Design:
    """A design by name, or from a TOML file when ``name`` ends in ``.toml``; checked as a whole.

    Questionnaires may be named (``"bigfive10"``, ``"demographics"``, or a TOML file beside the design) or written out.

    Raises:
        UserError: Listing everything that is wrong in it.
    """
    bundled = _bundled("designs")
    if name in bundled:
        return parse_design(bundled[name], name, Path())
    if name.endswith(".toml"):
        return parse_design(read_text(name), name, Path(name).expanduser().parent)
    near = did_you_mean(get_close_matches(name, bundled, n=2)) or ";"
    raise UserError(f"no design {name!r}{near} there are {', '.join(sorted(bundled))}, or name a .toml file")


def parse_design(text: str, source: str, folder: Path) -> Design:
    """A design from the text of a TOML file.

    Args:
        text: The file's text.
        source: Its name, for errors.
        folder: Where questionnaire files it names are looked for.

    Raises:
        UserError: Listing everything that is wrong in it.
    """
    data = _toml(text, source)
    named = data.get("questionnaires", [])
    if isinstance(named, list):
        data["questionnaires"] = [_questionnaire(one, folder) if isinstance(one, str) else one for one in named]
    for slot in _each(data):
        slot_list = data["slots"]
        place = slot_list.index(slot)
        slot_list[place : place + 1] = list(_spread(slot, source))
    try:
        design = Design.model_validate(data)
    except ValidationError as error:
        lines = [f"{source}: this is no design"]
        lines += [f"  {'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors(include_url=False)]
        raise UserError("\n".join(lines)) from error
    check_design(design, source)
    return design


def check_design(design: Design, source: str) -> None:
    """Refuse a design whose parts do not fit each other.

    Raises:
        UserError: Listing everything that is wrong.
    """
    problems = [*_slot_problems(design.slots, design), *_page_problems(design), *_probe_problems(design)]
    for one in design.questionnaires:
        problems += [f"questionnaire {one.id}: {text}" for text in _slot_problems(one.slots, None)]
        rated = {slot.id for slot in one.slots if slot.kind in NUMERIC}
        for score in one.scores:
            unknown = sorted({item.removeprefix("-") for item in score.items} - rated)
            if unknown:
                problems.append(f"questionnaire {one.id}: score {score.id} takes {', '.join(unknown)}, no scale of it")
    if problems:
        raise UserError(
            "\n".join([f"{source}: {len(problems)} problem(s) in the design", *(f"  {p}" for p in problems)])
        )


def _slot_problems(slots: tuple[Slot, ...], design: Design | None) -> Iterator[str]:
    ids = [slot.id for slot in slots]
    for twice in sorted({one for one in ids if ids.count(one) > 1}):
        yield f"two slots have the id {twice}"
    fields = {shown.field for shown in design.shown} if design else set()
    for place, slot in enumerate(slots):
        earlier = ids[:place]
        for needed in (*((slot.when.slot,) if slot.when else ()), *slot.composes):
            if needed not in earlier:
                yield f"slot {slot.id} rests on {needed}, which is no slot before it"
        if slot.upstream and slot.upstream not in ids:
            yield f"slot {slot.id} has upstream {slot.upstream}, which is no slot"
        if slot.kind == "span" and slot.field not in fields:
            yield f"slot {slot.id} marks spans in {slot.field}, which is not shown"
        try:
            keys = shortcuts(slot, slot.options)
        except UserError as error:
            yield str(error)
        else:
            if len(keys) < len(slot.options) and slot.kind in {"choice", "label_set"}:
                yield f"slot {slot.id} has {len(slot.options)} options and there are keys for {len(keys)}"


def _page_problems(design: Design) -> Iterator[str]:
    if not design.pages:
        return
    placed = [slot for page in design.pages for slot in page.slots]
    ids = [slot.id for slot in design.slots]
    for slot in sorted({one for one in placed if placed.count(one) > 1}):
        yield f"slot {slot} is on two pages"
    for slot in placed:
        if slot not in ids:
            yield f"a page has the slot {slot}, which is none"
    for slot in ids:
        if slot not in placed:
            yield f"slot {slot} is on no page"


def _probe_problems(design: Design) -> Iterator[str]:
    ids = [probe.id for probe in design.probes]
    for twice in sorted({one for one in ids if ids.count(one) > 1}):
        yield f"two training or attention items have the id {twice}"
    for probe in design.probes:
        yield from (f"item {probe.id}: {text}" for text in _probe_problem(design, probe))


def _probe_problem(design: Design, probe: Probe) -> Iterator[str]:
    try:
        unit = make_unit(design, probe.id, probe.fields)
    except UserError as error:
        yield str(error)
        return
    for slot in probe.expected:
        if slot not in design.slot:
            yield f"expects an answer in {slot}, which is no slot"
    _, wrong = checked(design.slots, unit, Reply(values=dict(probe.expected)))
    for slot in probe.expected:
        if wrong.get(slot, "missing") != "missing":
            yield f"the expected answer of {slot} ({probe.expected[slot]!r}) is not among the options this item offers"


def _each(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    slots = data.get("slots", [])
    return [slot for slot in slots if isinstance(slot, dict) and "each" in slot] if isinstance(slots, list) else []


def _spread(slot: dict[str, Any], source: str) -> Iterator[dict[str, Any]]:
    """One slot for every label of a space; the label's definition is the question."""
    from affectlab.labels import load as load_labels

    titles = slot.get("titles", {})
    common = {name: value for name, value in slot.items() if name not in {"each", "titles"}}
    space = load_labels(slot["each"])
    unknown = sorted(set(titles) - set(space.ids))
    if unknown:
        raise UserError(f"{source}: titles names {', '.join(unknown)}, no label of {space.name}")
    for label in space:
        title = titles.get(label.id) or label.definition or dict(label.names)
        yield {**common, "id": label.id, "title": title}


def _questionnaire(name: str, folder: Path) -> dict[str, Any]:
    bundled = _bundled("questionnaires")
    if name in bundled:
        return _toml(bundled[name], name)
    if name.endswith(".toml"):
        path = str(folder / name)
        return _toml(read_text(path), path)
    raise UserError(f"no questionnaire {name!r}; there are {', '.join(sorted(bundled))}, or name a .toml file")


def _toml(text: str, source: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{source}: not valid TOML: {error}") from error


def _bundled(folder: str) -> dict[str, str]:
    found = (files("affectlab.annotate") / folder).iterdir()
    return {one.name.removesuffix(".toml"): one.read_text("utf-8") for one in found if one.name.endswith(".toml")}
