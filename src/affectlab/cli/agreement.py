"""``affectlab agreement``: how well annotators agree, from a file of their answers."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from affectlab.cli.common import AsJson, Replicates, pairs, print_json
from affectlab.errors import UserError, first_of

if TYPE_CHECKING:
    from affectlab.annotate.answers import Answer

_SHOWN = 5


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command(
        "agreement",
        help="Agreement among annotators: kappa, alpha and their intervals, from a file of item, annotator and value.",
    )(agreement)


def agreement(
    file: Annotated[
        str,
        typer.Argument(
            help="Answers in long form: .csv, .tsv, .jsonl or .json with columns item, annotator, value and, if there "
            "are several, slot.",
            metavar="FILE",
        ),
    ],
    level: Annotated[
        str | None,
        typer.Option(
            help="nominal, ordinal, interval, ratio, jaccard or masi. Default: nominal for labels, ordinal for "
            "numbers, masi for sets. Values in a table are labels unless --values, --level or a column type says "
            "otherwise."
        ),
    ] = None,
    slot: Annotated[list[str] | None, typer.Option(help="Only this slot. Repeatable.")] = None,
    upstream: Annotated[
        str | None, typer.Option(help="Also on the items where annotators agree on this slot.", metavar="SLOT")
    ] = None,
    values: Annotated[
        list[str] | None,
        typer.Option(
            help="All values there are, in order, or a label space: a,b,c or chiaro10 or SLOT=1,2,3,4,5. Repeatable.",
            metavar="[SLOT=]VALUES",
        ),
    ] = None,
    weights: Annotated[
        Path | None,
        typer.Option(help="Own weights of kappa: a table (CSV) of how much each disagreement counts, values as heads."),
    ] = None,
    sets: Annotated[bool, typer.Option("--sets", help="Values are sets of labels separated by ;")] = False,
    kind: Annotated[str, typer.Option(help="Whose answers, where both are there: human or model.")] = "human",
    schema: Annotated[str | None, typer.Option(help="Only answers under this version of the label set.")] = None,
    min_n: Annotated[int, typer.Option(help="Items two annotators must share for their kappa to count.", min=1)] = 1,
    field_map: Annotated[
        list[str] | None,
        typer.Option("--map", help="Our column = the file's: item, annotator, value, slot …", metavar="FIELD=COLUMN"),
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Also write an HTML page.")] = None,
    replicates: Replicates = 1000,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap over items.", min=0)] = 0,
    as_json: AsJson = False,
) -> None:
    """Print a table for each slot, and the sentence for a methods section."""
    from affectlab.annotate.agreement import Asked
    from affectlab.annotate.agreement import agreement as agreement_of
    from affectlab.annotate.answer_files import read_answers
    from affectlab.report.agreement import document_of
    from affectlab.report.html import document_html
    from affectlab.report.terminal import print_document
    from affectlab.runs.folder import writing
    from affectlab.stats.agreement import LEVELS
    from affectlab.stats.agreement.summary import Scale
    from affectlab.stats.bootstrap import Interval

    if level is not None and level not in LEVELS:
        raise UserError(f"--level {level}: expected one of {', '.join(LEVELS)}.")
    if kind not in ("human", "model"):
        raise UserError(f"--kind {kind}: expected human or model.")
    declared = dict(map(_values, values or []))
    own = None
    if weights is not None:
        own, order = _weights(weights)
        declared.setdefault("", order)
    numeric = _Numeric(level, tuple(slot or ()), declared)
    read = read_answers(file, pairs(field_map or [], "--map"), numbers=numeric.throughout, sets=sets)
    known = dict.fromkeys(one.slot for one in read.answers)
    if unknown := [name for name in declared if name and name not in known]:
        raise UserError(f"--values {unknown[0]}=…: there is no slot {unknown[0]!r}. There are: {', '.join(known)}.")
    spaces = {name: space for name in known if (space := numeric.values(name)) is not None}
    answers = _with_numbers(read.answers, {name for name in known if numeric.of(name)})
    found = agreement_of(
        answers,
        Asked(
            scale=Scale(level, own, min_n),
            values=spaces,
            slots=tuple(slot or ()),
            upstream=upstream,
            kind=kind,  # type: ignore[arg-type]
            schema=schema,
            interval=Interval(replicates=replicates, seed=seed),
        ),
    )
    if level is None:
        _hint_at_numbers([one for one in answers if one.kind == kind and (not slot or one.slot in slot)])
    if read.ignored:
        print(f"Columns not used: {', '.join(read.ignored)}.", file=sys.stderr)
    others = sum(one.kind != kind for one in read.answers)
    if others:
        print(
            f"{others} answers of the other kind are left out; --kind compares them among themselves.", file=sys.stderr
        )
    document = document_of(file, found)
    if html is not None:
        with writing(html):
            html.write_text(document_html(document), encoding="utf-8")
    if as_json:
        print_json({"file": file, "kind": kind, "other_kind": others, "slots": [one.to_dict() for one in found]})
    else:
        print_document(document)


@dataclass(frozen=True)
class _Numeric:
    """Which slots hold numbers, by what was asked for."""

    level: str | None
    slots: tuple[str, ...]
    declared: Mapping[str, list[Any]]

    def of(self, slot: str) -> bool:
        """Whether the values of a slot are numbers."""
        if self.level in ("interval", "ratio") and self._asked_for(slot):
            return True
        values = self.values(slot)
        return values is not None and _numeric(values)

    def values(self, slot: str) -> list[Any] | None:
        """Values declared for a slot; those of no slot in particular are of the slots asked for."""
        return self.declared.get(slot, self.declared.get("") if self._asked_for(slot) else None)

    def _asked_for(self, slot: str) -> bool:
        return not self.slots or slot in self.slots

    @property
    def throughout(self) -> bool:
        """Whether it holds of every slot there may be: a row that is no number is then a bad row."""
        return not self.slots and not any(self.declared) and self.of("")


def _with_numbers(answers: Iterable[Answer], slots: Set[str]) -> list[Answer]:
    """Answers with the texts of some slots read as numbers."""
    found, bad = [], []
    where: dict[str, None] = {}
    for one in answers:
        if one.slot in slots and isinstance(one.value, str):
            if _numeric([one.value]):
                one = replace(one, value=float(one.value))
            else:
                where[one.slot] = None
                bad.append(f"{one.value!r} ({one.annotator} on {one.item})")
        found.append(one)
    if bad:
        raise UserError(f"{len(bad)} answers to {', '.join(where)} are no numbers: {first_of(bad, _SHOWN)}.")
    return found


def _hint_at_numbers(answers: Iterable[Answer]) -> None:
    """Say it where numbers of a table are compared as labels, which is seldom meant."""
    said: dict[str, list[Any]] = {}
    for one in answers:
        if one.counts:
            said.setdefault(one.slot, []).append(one.value)
    for slot, values in said.items():
        if all(isinstance(value, str) for value in values) and len(set(values)) > 2 and _numeric(values):
            print(
                f"Slot {slot!r}: the values are numbers, compared as labels without order. For a rating scale give all "
                f"its points in order (--values {slot}=1,2,3,4,5), for measurements --level interval --slot {slot}.",
                file=sys.stderr,
            )


def _values(option: str) -> tuple[str, list[Any]]:
    """Slot (empty: all) and the values declared for it; a single word is a label space."""
    from affectlab.annotate.answers import normal
    from affectlab.labels import load

    slot, equals, text = option.rpartition("=") if "=" in option else ("", "", option)
    slot = normal(slot.strip())
    words = [normal(word.strip()) for word in text.split(",") if word.strip()]
    if not words or (equals and not slot):
        raise UserError(f"--values {option!r}: expected a,b,c or the name of a label space, or SLOT=a,b,c.")
    if len(words) == 1:
        words = list(load(words[0]).ids)
    return slot, [float(word) for word in words] if _numeric(words) else list(words)


def _numeric(values: Iterable[Any]) -> bool:
    try:
        return all(math.isfinite(float(value)) for value in values)
    except ValueError:
        return False


def _weights(path: Path) -> tuple[list[list[float]], list[Any]]:
    """A square table of weights, and the values that head it."""
    import csv

    from affectlab.items.source import read_text

    rows = [row for row in csv.reader(read_text(str(path)).splitlines()) if row]
    heads = [cell.strip() for cell in rows[0]][1:]
    sides = [row[0].strip() for row in rows[1:]]
    if heads != sides:
        raise UserError(f"{path}: the table's heads ({', '.join(heads)}) must be its rows ({', '.join(sides)}).")
    try:
        table = [[float(cell) for cell in row[1:]] for row in rows[1:]]
    except ValueError as error:
        raise UserError(f"{path}: weights must be numbers ({error}).") from error
    if any(len(row) != len(heads) for row in table):
        raise UserError(f"{path}: every row must have {len(heads)} weights.")
    return table, [float(head) for head in heads] if _numeric(heads) else list(heads)
