"""Files and tables of a project, from the command line and from the admin's page alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from sqlalchemy import Connection

from affectlab.annotate.adjudicate import Panel, canonical, settle
from affectlab.annotate.answers import answers_to_csv, answers_to_jsonl, json_lines, table_text
from affectlab.annotate.care_records import care_records
from affectlab.annotate.design import Design
from affectlab.annotate.exchange import FORMATS
from affectlab.annotate.exchange.benchmark import fill
from affectlab.annotate.exchange.gold import (
    Settled,
    Source,
    gold_counts,
    gold_to_csv,
    gold_to_jsonl,
    require_settled,
    wide_to_csv,
)
from affectlab.annotate.project import BACKUPS, OWN_FILES
from affectlab.annotate.records import iso, plain, project_answers
from affectlab.annotate.sources import bundled_source, read_units
from affectlab.annotate.store import panels as paneling
from affectlab.annotate.store import replies
from affectlab.annotate.store.project import current_design
from affectlab.errors import UserError, first_of
from affectlab.replacing import replacing

_SOURCES: Mapping[str, Source] = {
    "unanimous": "unanimous",
    "majority": "majority",
    "alone": "single",
    "decided": "adjudicated",
    "no_gold": "no-gold",
    "all_skipped": "no-gold",
}


def project_gold(design: Design, panels: list[Panel]) -> list[Settled]:
    """Gold of every slot that people must agree on, with where it comes from. Items left out by all have none."""
    found = []
    for panel in panels:
        for slot in design.slots:
            where = settle(design, slot, panel)
            if where.status in {"kept", "absent"} or slot.resolve == "keep":
                continue
            values = [vote.reply.values[slot.id] for vote in panel.votes if slot.id in vote.reply.values]
            gold = None if where.value is None else plain(slot, where.value)
            made = panel.decisions.get(slot.id) if where.status == "decided" else None
            source = _SOURCES.get(where.status, "pending")
            found.append(
                Settled(
                    item=panel.unit.id,
                    slot=slot.id,
                    value=gold,
                    source="single" if source == "unanimous" and len(values) == 1 else source,
                    answers=len(values),
                    agreeing=sum(canonical(value) == canonical(where.value) for value in values),
                    by=made.person if made else "",
                )
            )
    return found


def _presence(design: Design, gold: list[Settled]) -> Iterator[Settled]:
    """EmoScene's gold is one present or absent for each emotion; its annotators give one set with intensities."""
    for one in gold:
        if one.slot != "emotions":
            yield one
            continue
        chosen = one.value if isinstance(one.value, Mapping) else {}
        for option in design.slot["emotions"].options:
            there = "present" if option.id in chosen else "absent"
            yield replace(one, slot=option.id, value=None if one.value is None else there)


def _remarks(conn: Connection) -> list[tuple[str, ...]]:
    """What people say about items beside their answers, as :data:`_REMARKS` names it."""
    return [
        (one.item, one.person, "yes" if one.reply.flag else "", one.reply.skipped, one.reply.comment, iso(one.at))
        for one in replies.current(conn)
        if one.reply.flag or one.reply.skipped or one.reply.comment
    ]


_REMARKS = ("item", "annotator", "flag", "left_out", "comment", "time")


def _text(conn: Connection, design: Design, form: str, gold: Sequence[Settled], *, csv: bool, bom: bool) -> str:
    """Long, wide, gold or remarks as a table or as JSON lines; wide is always a table, of answers and gold."""
    if form == "gold":
        return gold_to_csv(gold, bom=bom) if csv else gold_to_jsonl(gold)
    if form == "remarks":
        rows = _remarks(conn)
        return table_text(_REMARKS, rows, bom=bom) if csv else json_lines(_named(rows))
    answers = project_answers(conn, design)
    if form == "wide":
        return wide_to_csv(answers, gold, bom=bom)
    return answers_to_csv(answers, bom=bom) if csv else answers_to_jsonl(answers)


def _named(rows: Iterable[tuple[str, ...]]) -> Iterator[dict[str, str]]:
    return (dict(zip(_REMARKS, row, strict=True)) for row in rows)


FILES = ("long.csv", "long.jsonl", "wide.csv", "gold.csv", "gold.jsonl")
"""Files by name; nothing else can be asked for."""

FORMS = ("long", "wide", "gold", "remarks", "benchmark", *FORMATS)
"""What can be written from the command line."""


def make_file(conn: Connection, design: Design, name: str) -> str:
    """One of :data:`FILES` as text."""
    form, _, kind = name.partition(".")
    gold = project_gold(design, paneling.panels(conn, design)) if form in {"gold", "wide"} else []
    return _text(conn, design, form, gold, csv=kind == "csv", bom=True)


@dataclass(frozen=True)
class Wish:
    """What is to be written.

    Attributes:
        form: One of :data:`FORMS`.
        strict: Refuse while anything is pending.
        bom: Byte order mark in CSV, by which Excel knows UTF-8.
        items: For ``benchmark``: the file the items came from; the bundled ones when ``None``.
        fields: For ``benchmark``: our field name -> that file's column, as the items were read.
        folder: The project's, whose own files are not written over.
    """

    form: str = "long"
    strict: bool = False
    bom: bool = False
    items: str | None = None
    fields: Mapping[str, str] = field(default_factory=dict)
    folder: Path | None = None


def write_export(conn: Connection, out: Path, wish: Wish) -> str:
    """Write a project's answers to a file; returns what was written, in words.

    Raises:
        UserError: When there is no such form, ``strict`` and something is pending, the benchmark's items are not named,
            no item has gold, or the file is one of the project's own or the items'.
        OSError: When the file cannot be written.
    """
    if wish.form not in FORMS:
        raise UserError(f"--form {wish.form!r}: expected one of {', '.join(FORMS)}.")
    _spare(out, wish)
    design = current_design(conn)
    panels = paneling.panels(conn, design)
    gold = project_gold(design, panels)
    if wish.strict:
        require_settled(gold)
        _require_answers(paneling.awaited(conn, panels), len(panels))
    if wish.form == "gold" and all(slot.resolve == "keep" for slot in design.slots if slot.asked):
        raise UserError(f"The design {design.name!r} keeps every answer and has no gold; export long or wide.")
    if wish.form in FORMATS:
        return _exchange(conn, design, panels, out, wish)
    if wish.form == "benchmark" and design.benchmark == "care":
        records = care_records(conn, design)
        if not records:
            raise UserError("No story has its writer's answers yet; nothing was written.")
        _write(out, json_lines(records))
        return f"{len(records)} stories with their writers' answers; run it with: affectlab run care --data {out}"
    if wish.form == "benchmark":
        return _benchmark(design, gold, out, wish)
    csv = out.suffix.lower() == ".csv"
    text = _text(conn, design, wish.form, gold, csv=csv, bom=wish.bom)
    _write(out, text)
    if wish.form == "gold":
        counts = gold_counts(gold)
        return "; ".join(
            f"{slot}: " + ", ".join(f"{k} {n}" for k, n in found.items()) for slot, found in counts.items()
        )
    return f"{len(text.splitlines()) - int(csv or wish.form == 'wide')} rows"


def _require_answers(waiting: Sequence[Panel], total: int) -> None:
    if waiting:
        named = first_of([f"{one.unit.id} ({len(one.votes)} of {one.wanted})" for one in waiting])
        raise UserError(
            f"{len(waiting)} of {total} items wait for answers: {named}. Nothing was written; export without --strict."
        )


def _benchmark(design: Design, gold: list[Settled], out: Path, wish: Wish) -> str:
    if not design.benchmark:
        raise UserError(f"The design {design.name!r} belongs to no benchmark; export gold.")
    if design.benchmark == "emoscene":
        gold = list(_presence(design, gold))
    with bundled_source(design) as bundled:
        source = wish.items or str(bundled)
        if wish.items is None and not {one.item for one in gold} <= {unit.id for unit in read_units(design, source)}:
            raise UserError("Give --items, the file that the project's items came from.")
        filled = fill(design.benchmark, source, gold, wish.fields, strict=wish.strict)
    if not filled.rows:
        raise UserError("No item has gold for all its slots yet; nothing was written.")
    _write(out, filled.to_jsonl())
    told = f"{len(filled.rows)} items with gold; run it with: affectlab run {design.benchmark} --data {out}"
    left = [f"{len(filled.without)} items without gold"] if filled.without else []
    left += [f"{count} of slot {slot}" for slot, count in filled.unused.items()]
    left += [f"columns with personal data ({', '.join(filled.personal)})"] if filled.personal else []
    return told + (f" (left out: {'; '.join(left)})" if left else "")


def _exchange(conn: Connection, design: Design, panels: list[Panel], out: Path, wish: Wish) -> str:
    texts = {panel.unit.id: panel.unit.text(design.main_field) for panel in panels}
    written = FORMATS[wish.form].write(project_answers(conn, design), texts)
    left = ", ".join(f"{n} {what}" for what, n in written.left_out.items())
    if not written.files:
        why = f"it has no place for what there is: {left}" if left else "there are no answers yet"
        raise UserError(f"Nothing was written for {wish.form}: {why}.")
    for name, text in written.files.items():
        # A format of one file is written where the user says, one of several into a folder of that name.
        _write(out / name if "/" in name else out, text)
    return f"{len(written.files)} file(s) for {wish.form}" + (f"; left out: {left}" if left else "")


def _spare(out: Path, wish: Wish) -> None:
    place = out.resolve()
    if wish.items is not None and place == Path(wish.items).expanduser().resolve():
        raise UserError(f"{out} is the file the items came from; name another one.")
    if wish.folder is None:
        return
    folder = wish.folder.resolve()
    if folder / BACKUPS in place.parents or (place.parent == folder and place.name.startswith(OWN_FILES)):
        raise UserError(f"{out} is one of the project's own files; name another one.")


def _write(path: Path, text: str) -> None:
    from affectlab.runs.folder import writing

    place = path.resolve()
    with writing(path):
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.exists() and not place.is_file():  # a pipe, a terminal
            place.write_text(text, encoding="utf-8", newline="")
            return
        with replacing(place) as beside:
            beside.write_text(text, encoding="utf-8", newline="")
