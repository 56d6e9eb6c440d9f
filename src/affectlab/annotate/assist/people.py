"""What people are asked in model-assisted annotation, and what they have answered."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from affectlab.annotate.answer_files import BadFieldError, answer_of, read_answers
from affectlab.annotate.answers import Answer, answers_to_jsonl, table_text
from affectlab.annotate.assist.offered import Offered
from affectlab.annotate.assist.routing import Case, draw
from affectlab.annotate.assist.study import Study, as_label
from affectlab.errors import UserError, as_lines, first_of
from affectlab.items import read_rows

ASKED = "people.csv"
"""What people are asked; may be filled in where it lies."""

KEPT = "people.jsonl"
"""All that people answered."""

REPLACED = "people-replaced.jsonl"
"""What people answered before they changed it."""

_SHOWN = 5
_COLUMNS = ("item", "slot", "annotator", "value", "options", "text")


@dataclass(frozen=True)
class People:
    """Answers of people.

    Attributes:
        answers: The newest of each person to each slot.
        replaced: Kept answers that others of the same person now stand for.
        notes: What a reader must know of them.
    """

    answers: tuple[Answer, ...] = ()
    replaced: tuple[Answer, ...] = ()
    notes: tuple[str, ...] = ()


def people_csv(study: Study, cases: Sequence[Case]) -> str:
    """What people are asked, in an order of its own: no label of a model, and nothing that tells why.

    Somebody fills in ``annotator`` and ``value``; a row without a value was not answered.
    """
    items = {item.id: item for item in study.plan.items}
    offered = Offered(study)
    asked = sorted(
        (case for case in cases if case.why_people is not None and case.human is None),
        key=lambda case: draw(study.audit.seed, "order", case.item, case.slot),
    )
    rows = [
        (
            case.item,
            case.slot,
            "",
            "",
            " | ".join(offered.of(case.item, case.slot)),
            "\n".join(f"{name}: {value}" for name, value in items[case.item].inputs.items() if value),
        )
        for case in asked
    ]
    return table_text(_COLUMNS, rows, bom=True)


def people_so_far(study: Study, given: Sequence[Sequence[Answer]] = ()) -> People:
    """People's answers that the folder holds, those filled into its ``people.csv``, and those given now.

    An answer given now replaces an earlier one of the same person to the same slot; the earlier one is kept aside.

    Args:
        study: The study.
        given: Answers of each file given now.

    Raises:
        UserError: When a filled row of ``people.csv`` is no answer, or the files given now hold two different answers
            of one person to one slot.
    """
    now: dict[tuple[str, str, str], Answer] = {}
    twice: list[Answer] = []
    for source in (_filled_in(study), *given):
        twice += [one for one in source if one.value != now.setdefault(_key(one), one).value]
    if twice:
        who = first_of(sorted({repr(one.annotator) for one in twice}), _SHOWN)
        raise UserError(
            f"{len(twice)} slots have two different answers of {who} in the files given, the first of them "
            f"{twice[0].slot!r} of {twice[0].item!r}. Two people need two names in the column annotator."
        )
    kept = study.folder / KEPT
    stored = {_key(one): one for one in (read_answers(str(kept)).answers if kept.exists() else ())}
    replaced = [one for key, one in stored.items() if key in now and now[key].value != one.value]
    notes = []
    if replaced:
        by = first_of(sorted({repr(one.annotator) for one in replaced}), _SHOWN)
        notes.append(
            f"{len(replaced)} earlier answers of {by} are replaced by different ones; they are kept in {REPLACED}. If "
            "these are two people, give them two names."
        )
    return People(tuple((stored | now).values()), tuple(replaced), tuple(notes))


def _key(one: Answer) -> tuple[str, str, str]:
    return one.item, one.slot, one.annotator


def _filled_in(study: Study) -> list[Answer]:
    path = study.folder / ASKED
    if not path.exists():
        return []
    answers = []
    for row in read_rows(str(path)):
        if row.data.get("value"):
            try:
                answers.append(answer_of(row.data, table=True))
            except BadFieldError as error:
                raise UserError(f"{path}, {row.place}: {error}") from error
    return answers


def fitting(study: Study, cases: Sequence[Case], answers: Iterable[Answer]) -> list[Answer]:
    """People's answers that count, their labels written as the models' are.

    Raises:
        UserError: Listing answers to slots that are not in the study, and labels that are none or not offered there.
    """
    known = {(case.item, case.slot) for case in cases}
    offered = Offered(study)
    bad: list[str] = []
    kept: list[Answer] = []
    for one in answers:
        if one.kind != "human" or not one.counts:
            continue
        try:
            if (one.item, one.slot) not in known:
                raise UserError("this slot is not in the study")
            value = as_label(one.value, study.space(one.slot))
            offered.refuse_others(one.item, one.slot, value)
            kept.append(replace(one, value=value))
        except UserError as error:
            bad.append(f"{one.annotator} on {one.slot!r} of {one.item!r}: {error}")
    if bad:
        raise UserError(f"{len(bad)} answers of people do not fit:{as_lines(bad, _SHOWN)}")
    return kept


def keep_replaced(folder: Path, replaced: Iterable[Answer]) -> None:
    """Add answers to those that were replaced before.

    Raises:
        OSError: When the disk fails.
    """
    with (folder / REPLACED).open("a", encoding="utf-8", newline="") as file:
        file.write(answers_to_jsonl(replaced))
