"""An EmoScene scenario as it stands in a file, and the item made of it.

Source: EmoScene (arXiv 2604.00819): a scenario in words, and whether each of Plutchik's eight emotions is there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, TypeAlias

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from affectlab.benchmarks.emoscene import settings
from affectlab.errors import did_you_mean
from affectlab.items.fields import Identifier, OptionalText, Text, blank_is_absent
from affectlab.items.item import Item
from affectlab.items.load import Loaded, load_items
from affectlab.labels import Label, LabelSpace
from affectlab.labels import load as load_labels

EMOTIONS = load_labels("plutchik8")

PRESENT, ABSENT = "present", "absent"

PRESENCE = LabelSpace(
    name="presence",
    title="Whether an emotion is there",
    version="1",
    source="EmoScene (arXiv 2604.00819): one yes or no for each emotion",
    labels=(
        Label(PRESENT, {"en": "Present"}, ("yes", "1")),
        Label(ABSENT, {"en": "Absent"}, ("no", "0")),
    ),
)
"""What each of the eight slots of a scenario holds."""

_SEPARATOR = re.compile(r"[,;|\n]")
_NONE = frozenset({"none", "无"})
"""How a table says that no emotion is there."""


def _bit(value: Any) -> Any:
    """0 or 1 from a number, a truth value or their usual spellings in tables."""
    value = blank_is_absent(value)
    if isinstance(value, str):
        value = {"0": 0, "1": 1, "0.0": 0, "1.0": 1, "false": 0, "true": 1}.get(value.strip().lower(), value)
    if value is None or (isinstance(value, int | float) and value in (0, 1)):
        return None if value is None else bool(value)
    raise ValueError("0 or 1")


def _names(value: Any) -> Any:
    """Emotions by id, from a list of names, a text of them, "none", or eight zeros and ones in Plutchik's order.

    An empty text is no gold, as an empty cell is: a table says with "none" or "[]" that no emotion is there.
    """
    if isinstance(value, str) and value.strip():
        value = [part for part in _SEPARATOR.split(value.strip().strip("[]")) if part.strip()]
    value = blank_is_absent(value)
    if value is None or not isinstance(value, list | tuple):
        return value
    parts = [part.strip().strip("'\"") if isinstance(part, str) else part for part in value]
    if len(parts) == len(EMOTIONS.ids) and not any(isinstance(part, str) and not part.isdigit() for part in parts):
        bits = [_bit(part) for part in parts]
        if None in bits:
            raise ValueError("0 or 1 for all eight emotions")
        return tuple(name for name, bit in zip(EMOTIONS.ids, bits, strict=True) if bit)
    if len(parts) == 1 and isinstance(parts[0], str) and parts[0].casefold() in _NONE:
        return ()
    found = set()
    for part in parts:
        name = EMOTIONS.resolve(part) if isinstance(part, str) else None
        if name is None:
            near = did_you_mean(map(repr, EMOTIONS.nearest(part))) if isinstance(part, str) else ""
            raise ValueError(
                f"emotions out of {', '.join(EMOTIONS.ids)}, none, or eight times 0 or 1 (not {part!r}){near}"
            )
        found.add(name)
    return tuple(name for name in EMOTIONS.ids if name in found)


Bit: TypeAlias = Annotated[bool | None, BeforeValidator(_bit)]


def _column(name: str) -> Any:
    return Field(default=None, validation_alias=AliasChoices(name, name.capitalize(), name.upper()))


class Scenario(BaseModel):
    """A scenario and the emotions in it.

    Only ``text`` is needed: a scenario without gold can be predicted, not scored. Gold is either ``labels`` or all
    eight columns; where both are there they must agree.

    Attributes:
        id: Unique within the file; the number of the row when absent.
        text: What a model reads.
        labels: The emotions that are there: names, or eight zeros and ones in Plutchik's order. No emotion is ``[]``
            or "none"; an empty text is no gold.
        joy: 1 when it is there, else 0; likewise ``trust`` to ``anticipation``.
        domain: What part of life it is about; results are broken down by it.
        group: Shared by scenarios that are not independent (versions of one).
    """

    model_config = ConfigDict(frozen=True)

    id: Identifier | None = None
    text: Text = Field(validation_alias=AliasChoices("text", "scenario"))
    labels: Annotated[tuple[str, ...] | None, BeforeValidator(_names)] = None
    joy: Bit = _column("joy")
    trust: Bit = _column("trust")
    fear: Bit = _column("fear")
    surprise: Bit = _column("surprise")
    sadness: Bit = _column("sadness")
    disgust: Bit = _column("disgust")
    anger: Bit = _column("anger")
    anticipation: Bit = _column("anticipation")
    domain: OptionalText = None
    group: OptionalText = None

    @model_validator(mode="after")
    def _one_gold(self) -> Scenario:
        columns = {name: getattr(self, name) for name in EMOTIONS.ids}
        missing = [name for name, value in columns.items() if value is None]
        if 0 < len(missing) < len(columns):
            raise ValueError(f"0 or 1 for all eight emotions, or for none (missing: {', '.join(missing)})")
        if not missing and self.labels is not None:
            there = tuple(name for name, value in columns.items() if value)
            if there != self.labels:
                raise ValueError(f"labels and columns that agree ({', '.join(self.labels)}; {', '.join(there)})")
        return self

    @property
    def gold(self) -> tuple[str, ...] | None:
        """Emotions that are there, in Plutchik's order; ``None`` when the data do not say."""
        if self.labels is not None:
            return self.labels
        return None if self.joy is None else tuple(name for name in EMOTIONS.ids if getattr(self, name))


def to_item(scenario: Scenario, index: int) -> Item:
    """The scenario as an item: one slot for each emotion, sliced by domain and by how many emotions are there.

    Args:
        scenario: The scenario.
        index: Its position in the file, from 0.
    """
    there = scenario.gold
    number = {} if there is None else {"emotions": str(len(there)) if len(there) < 4 else "4 or more"}
    name = scenario.id or f"row-{index + 1}"
    return Item(
        id=name,
        index=index,
        inputs={"text": scenario.text},
        gold={} if there is None else {slot: PRESENT if slot in there else ABSENT for slot in EMOTIONS.ids},
        slices={**({"domain": scenario.domain} if scenario.domain else {}), **number},
        cluster=scenario.group or name,
    )


def load(source: str, fields: Mapping[str, str], options: Mapping[str, str] | None = None) -> Loaded:
    """Read a file of scenarios.

    Args:
        source: What :func:`affectlab.items.load.load_items` takes: a file, or ``hub:NAME``.
        fields: Our field name -> the file's, where they differ.
        options: The benchmark's settings, which are checked before anything runs.

    Raises:
        UserError: Naming the file and every bad row (unknown emotion, a column that is neither 0 nor 1, gold given
            twice and differently, no text, a repeated id), a setting that is none, or a prior that was fitted to some
            of these very scenarios.
    """
    given = options or {}
    settings.check(given)
    loaded = load_items(source, fields, record=Scenario, to_item=to_item)
    if given.get("prior"):
        from affectlab.benchmarks.emoscene.prior_file import refuse_shared

        refuse_shared(given["prior"], loaded)
    return replace(loaded, notes=(*loaded.notes, *_notes(loaded)))


def _notes(items: Sequence[Item]) -> list[str]:
    """That some rows have no gold: a table may have meant that no emotion is there."""
    without = sum(not item.gold for item in items)
    if without in (0, len(items)):
        return []
    said = f"{without} of {len(items)} scenarios have no gold."
    return [f"{said} Where no emotion is there, write none or []: an empty cell says nothing."]
