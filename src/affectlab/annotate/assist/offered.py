"""Which labels people may give to a slot of an item: those that the benchmark's design offers there. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from affectlab.annotate.assist.study import Study
from affectlab.annotate.design import Design
from affectlab.annotate.design_file import design_names, read_design
from affectlab.annotate.sources import item_fields
from affectlab.annotate.units import make_unit
from affectlab.errors import UserError
from affectlab.items import Gold, Item
from affectlab.labels import LabelSpace

_ALL = "open"
"""Protocol that offers every label whatever the item says."""


class Offered:
    """Options of each slot of each item, as the web app would offer them."""

    def __init__(self, study: Study) -> None:
        plan = study.plan
        limited = plan.benchmark.name in design_names() and plan.protocol.name != _ALL
        self._study = study
        self._design = read_design(plan.benchmark.name) if limited else None
        self._items = {item.id: item for item in plan.items}
        self._found: dict[str, Mapping[str, tuple[str, ...]]] = {}

    def of(self, item: str, slot: str) -> tuple[str, ...]:
        """Ids of the labels, or levels of a scale, in order; empty where anything may be said."""
        if item not in self._found:
            self._found[item] = {} if self._design is None else _limited(self._design, self._items[item])
        if found := self._found[item].get(slot):
            return found
        space = self._study.space(slot)
        return () if space is None else _labels(space)

    def refuse_others(self, item: str, slot: str, value: Gold) -> None:
        """Refuse a label that the item does not offer.

        Raises:
            UserError: Naming what it offers.
        """
        known = self.of(item, slot)
        given: Sequence[str] = [value] if isinstance(value, str) else list(value) if not _is_number(value) else []  # type: ignore[arg-type]
        if known and (strange := [one for one in given if one not in known]):
            raise UserError(f"{strange[0]!r} is not offered there; {', '.join(known)} are")


def _is_number(value: Gold) -> bool:
    return isinstance(value, int | float)


def _labels(space: LabelSpace) -> tuple[str, ...]:
    levels = [label.level for label in space]
    return space.ids if None in levels else tuple(str(level) for level in levels)


def _limited(design: Design, item: Item) -> Mapping[str, tuple[str, ...]]:
    slots = [slot.id for slot in design.slots if slot.group_field]
    if not slots:
        return {}
    try:
        unit = make_unit(design, item.id, item_fields(design, item))
    except UserError:
        return {}  # the data do not say which
    return {slot: tuple(option.id for option in unit.options[slot]) for slot in slots if slot in unit.options}
