"""From answers and decisions to gold: one value for each slot, where it comes from, and what is still pending.

Pure. Also answers and gold as wide tables, and gold in the long form that a benchmark's own format is made of.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from affectlab.annotate.answers import Answer, Decision, json_lines, table_text, value_text
from affectlab.errors import UserError, first_of
from affectlab.items import Gold

Source: TypeAlias = Literal[
    "unanimous", "majority", "single", "adjudicated", "model-adjudicated", "model-agreed", "no-gold", "pending"
]
"""How a slot came to its gold. ``single``: the one person who was asked. ``adjudicated``: by a person;
``model-adjudicated``: by a model. ``no-gold``: an adjudicator decided that there is none. ``pending``: nothing yet."""

_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Settled:
    """The gold of one slot of one item.

    Attributes:
        item: Id of the item.
        slot: Which slot.
        value: The gold; ``None`` while pending, and for no gold.
        source: How it came about.
        answers: Answers that count: people's, or models' where no person answered.
        agreeing: How many of them gave the gold.
        by: Who decided, where somebody did.
    """

    item: str
    slot: str
    value: Gold | None
    source: Source
    answers: int
    agreeing: int
    by: str = ""

    @property
    def open(self) -> bool:
        """Whether it still waits for somebody."""
        return self.source == "pending"


class PendingError(UserError):
    """Gold was asked for that is not there yet; the text says what is pending."""

    def __init__(self, pending: Sequence[Settled], total: int) -> None:
        self.pending = tuple(pending)
        by_slot = Counter(one.slot for one in pending)
        counts = ", ".join(f"{slot} {count}" for slot, count in by_slot.items())
        named = first_of([f"{one.item} ({one.slot})" for one in pending], _SHOWN)
        super().__init__(
            f"{len(pending)} of {total} slots are pending ({counts}): {named}. "
            "Nothing was written; adjudicate them, or export without --strict."
        )


def settle(
    answers: Iterable[Answer],
    decisions: Iterable[Decision] = (),
    *,
    annotators: int = 2,
    majority: bool = False,
    expected: Collection[tuple[str, str]] = (),
) -> list[Settled]:
    """The gold of every slot that anybody answered, decided, or was to answer.

    A decision counts before everything else. Else people's answers count, as soon as there are enough: equal ones are
    unanimous, one alone is single; a strict majority of three or more counts where it may. Where no person answered,
    two models or more that all gave a label, the same one, have agreed. Everything else is pending.

    Args:
        answers: Of people and models.
        decisions: In order; the last of each slot counts.
        annotators: People who must answer a slot.
        majority: Whether a strict majority settles a slot.
        expected: (item, slot) that must come out, answered or not.
    """
    given: dict[tuple[str, str], list[Answer]] = {key: [] for key in expected}
    for one in answers:
        given.setdefault((one.item, one.slot), []).append(one)
    decided = {(one.item, one.slot): one for one in decisions}
    for key in decided:
        given.setdefault(key, [])
    return [_settled(*key, found, decided.get(key), annotators, majority) for key, found in given.items()]


def _settled(
    item: str, slot: str, given: Sequence[Answer], decision: Decision | None, annotators: int, majority: bool
) -> Settled:
    people = [one for one in given if one.kind == "human" and one.counts]
    models = [one for one in given if one.kind == "model"]
    counted = people or [one for one in models if one.counts]
    votes = Counter(_key(one.value) for one in counted)
    values = {_key(one.value): one.value for one in reversed(counted)}  # as the first of them wrote it
    if decision is not None:
        value = decision.value
        by: Source = "adjudicated" if decision.kind == "human" else "model-adjudicated"
        source: Source = "no-gold" if value is None else by
        return Settled(item, slot, value, source, len(counted), votes[_key(value)], decision.adjudicator)
    if counted:
        (best, most), *_ = votes.most_common(1)
        same: Source = "unanimous" if len(counted) > 1 else "single"
        found = Settled(item, slot, values[best], same, len(counted), most)
        if people and len(people) >= annotators:
            if most == len(people):
                return found
            if majority and 2 * most > len(people):
                return Settled(item, slot, values[best], "majority", len(people), most)
        if not people and len(models) > 1 and most == len(models):
            return Settled(item, slot, values[best], "model-agreed", len(models), most)
    return Settled(item, slot, None, "pending", len(counted), 0)


def _key(value: Gold | None) -> Any:
    """What two equal answers have in common: sets know no order."""
    if isinstance(value, Mapping):
        return frozenset((name, much) for name, much in value.items() if much)
    return frozenset(value) if isinstance(value, tuple) else value


def same_value(one: Gold | None, other: Gold | None) -> bool:
    """Whether two answers are the same: sets know no order, an intensity of 0 is none."""
    return type(one) is type(other) and _key(one) == _key(other)


def require_settled(gold: Sequence[Settled]) -> None:
    """Refuse gold that is not complete.

    Raises:
        PendingError: Saying how many slots are pending, by slot, and the first of them.
    """
    if pending := [one for one in gold if one.open]:
        raise PendingError(pending, len(gold))


def gold_counts(gold: Iterable[Settled]) -> dict[str, dict[str, int]]:
    """Slot -> source -> how many items."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for one in gold:
        counts[one.slot][one.source] += 1
    return {slot: dict(found) for slot, found in counts.items()}


_COLUMNS = ("item", "slot", "value", "type", "source", "answers", "agreeing", "by")


def gold_to_csv(gold: Iterable[Settled], *, bom: bool = False) -> str:
    """Gold as a table, one row for each item and slot."""
    rows = (
        (one.item, one.slot, *value_text(one.value), one.source, str(one.answers), str(one.agreeing), one.by)
        for one in gold
    )
    return table_text(_COLUMNS, rows, bom=bom)


def gold_to_jsonl(gold: Iterable[Settled]) -> str:
    """Gold as JSON lines, one for each item and slot."""
    return json_lines({name: getattr(one, name) for name in _COLUMNS if name != "type"} for one in gold)


def wide_to_csv(answers: Iterable[Answer], gold: Iterable[Settled] = (), *, bom: bool = False) -> str:
    """A table with a row for each item and a column for each slot and annotator, and for each slot's gold and source.

    Columns are ``SLOT/ANNOTATOR``; people come before models, which are marked ``SLOT/ANNOTATOR (model)``, and gold
    comes last, as ``SLOT (gold)`` and ``SLOT (source)``. What was skipped is an empty cell.

    Raises:
        UserError: When two columns would have one heading, as those of a model and of a person named like one.
    """
    cells: dict[str, dict[tuple[int, int, str], str]] = defaultdict(dict)
    columns: dict[tuple[int, int, str], str] = {}
    slots: dict[str, int] = {}
    for one in answers:
        key = slots.setdefault(one.slot, len(slots)), int(one.kind == "model"), one.annotator
        columns[key] = f"{one.slot}/{one.annotator}" + (" (model)" if one.kind == "model" else "")
        cells[one.item][key] = value_text(one.value)[0]
    for settled in gold:
        place = slots.setdefault(settled.slot, len(slots))
        for order, (what, text) in enumerate((("gold", value_text(settled.value)[0]), ("source", settled.source))):
            columns[place, 2 + order, what] = f"{settled.slot} ({what})"
            cells[settled.item][place, 2 + order, what] = text
    if doubled := [name for name, times in Counter(columns.values()).items() if times > 1]:
        raise UserError(f"Two columns of the wide table would be {doubled[0]!r}; rename the annotator, or take long.")
    ordered = sorted(columns)
    rows = ((item, *(found.get(key, "") for key in ordered)) for item, found in cells.items())
    return table_text(("item", *(columns[key] for key in ordered)), rows, bom=bom)
