"""What there is to answer about an item: one slot each, as data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

from affectlab.annotate.words import NOTHING, Words, say
from affectlab.labels import LabelSpace
from affectlab.labels import load as load_labels

Kind: TypeAlias = Literal["choice", "scale", "label_set", "number", "yes_no", "text", "span", "derived"]

Level: TypeAlias = Literal["nominal", "ordinal", "interval", "masi"]

ONE_OF: frozenset[Kind] = frozenset({"choice", "yes_no"})
"""Kinds answered by one of some options, whose ids are the answers."""

NUMERIC: frozenset[Kind] = frozenset({"scale", "number"})
"""Kinds answered by a number."""

_LEVELS: dict[str, Level] = {"scale": "ordinal", "label_set": "masi", "number": "interval"}

Name: TypeAlias = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_.-]*$", max_length=64)]
"""An id that is safe in a form, a column name and a file name."""

YES_NO = ({"id": "yes", "names": {"en": "Yes", "zh": "是"}}, {"id": "no", "names": {"en": "No", "zh": "否"}})


class Part(BaseModel):
    """Base of everything a design consists of: cannot change, refuses fields it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Option(Part):
    """One answer that can be chosen.

    Attributes:
        id: What is stored; never changes, whatever the names are.
        names: What people read, by language.
        definition: Shown in the guidelines and as a hint.
        key: Shortcut; given one by :mod:`affectlab.annotate.keys` when empty.
        group: Group of the label space, for slots whose options depend on the item.
        level: Number on a scale.
    """

    id: Annotated[str, Field(min_length=1, max_length=80)]
    names: Words
    definition: Words = NOTHING
    key: Annotated[str, Field(max_length=1)] = ""
    group: str = ""
    level: int | None = None


class Condition(Part):
    """A slot is asked only when another one, earlier, has one of these values."""

    slot: Name
    equals: Annotated[tuple[str, ...], Field(min_length=1)]


class Slot(Part):
    """One thing to label in an item.

    Attributes:
        id: Unique in the design.
        kind: ``choice`` (one option), ``scale`` (a level), ``label_set`` (any number of options, each with an intensity
            where ``intensities`` is given), ``number``, ``yes_no``, ``text``, ``span`` (pieces of the item's text) or
            ``derived`` (the label that other slots make up; nobody answers it).
        title: The question.
        help: A line under it.
        labels: Label space the options come from.
        options: The options, where they come from no label space. In a file ``translations = {zh = {joy = "…"}}`` adds
            names to options of either origin.
        group_field: Field of the item that says which group the options are limited to.
        options_field: Field of the item that lists its own options.
        intensities: What the levels 1, 2, … of a chosen label are called.
        low: Lowest number.
        high: Highest number.
        shortest: Fewest characters of a text.
        longest: Most characters of a text.
        field: Shown field that spans are marked in.
        composes: Slots whose labels make up a derived one, in the label space's order.
        required: Whether an item can be submitted without it.
        when: Asked only then.
        upstream: Slot this one rests on, for agreement conditional on it.
        resolve: ``adjudicate`` where people must come to one answer; ``keep`` where every answer stands.
    """

    id: Name
    kind: Kind
    title: Words
    help: Words = NOTHING
    labels: str = ""
    options: tuple[Option, ...] = ()
    group_field: str = ""
    options_field: str = ""
    intensities: tuple[Words, ...] = ()
    low: float | None = None
    high: float | None = None
    shortest: Annotated[int, Field(ge=0)] = 0
    longest: Annotated[int, Field(ge=1, le=20_000)] = 4000
    field: str = ""
    composes: tuple[Name, ...] = ()
    required: bool = True
    when: Condition | None = None
    upstream: str = ""
    resolve: Literal["adjudicate", "keep"] = "adjudicate"

    @model_validator(mode="before")
    @classmethod
    def _take_labels(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        data = dict(data)
        translations = data.pop("translations", {})
        data = cls._with_options(data)
        return {**data, "options": _translated(data["options"], translations)} if translations else data

    @staticmethod
    def _with_options(data: dict[str, Any]) -> dict[str, Any]:
        if data.get("options"):
            return data
        if data.get("kind") == "yes_no":
            return {**data, "options": YES_NO}
        if isinstance(data.get("labels"), str) and data["labels"]:
            return {**data, "options": list(_options(load_labels(data["labels"])))}
        if data.get("kind") == "scale" and _whole(data.get("low")) and _whole(data.get("high")):
            numbers = range(int(data["low"]), int(data["high"]) + 1)
            return {**data, "options": [{"id": str(n), "names": {"en": str(n)}, "level": n} for n in numbers]}
        return data

    @model_validator(mode="after")
    def _whole_slot(self) -> Slot:
        for problem in self._problems():
            raise ValueError(f"{problem} (slot {self.id!r})")
        return self

    def _problems(self) -> Iterator[str]:
        ids = [option.id for option in self.options]
        if len(set(ids)) < len(ids):
            yield "options with different ids"
        if self.kind in {"choice", "label_set", "scale"} and len(ids) < 2 and not self.options_field:
            yield "at least two options: labels, options or options_field (a scale also takes low and high)"
        if self.kind == "scale" and any(option.level is None for option in self.options):
            yield "a level for every option of a scale"
        if self.kind == "span" and not self.field:
            yield "field: the shown text that spans are marked in"
        if self.kind == "derived" and not (self.labels and self.composes):
            yield "labels and composes, which say what is derived from what"
        if self.low is not None and self.high is not None and self.low >= self.high:
            yield "low below high"
        if self.shortest > self.longest:
            yield "shortest at most longest"

    def option(self, option_id: str) -> Option | None:
        """The option of an id."""
        return next((option for option in self.options if option.id == option_id), None)

    @property
    def asked(self) -> bool:
        """Whether people answer it."""
        return self.kind != "derived"

    @property
    def level(self) -> Level:
        """Level of measurement, as agreement coefficients take it."""
        return _LEVELS.get(self.kind, "nominal")


def compose(slot: Slot, values: dict[str, Any]) -> str | None:
    """Label that a derived slot has when others have these values; ``None`` while one of them is missing."""
    parts = [values.get(part) for part in slot.composes]
    if any(part is None for part in parts):
        return None
    return load_labels(slot.labels).compose(*map(str, parts))


def _options(space: LabelSpace) -> Iterator[dict[str, Any]]:
    for label in space:
        yield {
            "id": label.id,
            "names": dict(label.names),
            "definition": {"en": label.definition} if label.definition else {},
            "group": label.group,
            "level": label.level,
        }


def _translated(options: Sequence[dict[str, Any]], translations: Any) -> list[dict[str, Any]]:
    """Options with further names: language -> option id -> name."""
    if not isinstance(translations, dict) or not all(isinstance(names, dict) for names in translations.values()):
        raise ValueError("translations = {language = {option = name}}")
    ids = {option["id"] for option in options}
    for language, names in translations.items():
        if names.keys() - ids:
            raise ValueError(f"translations of options it has, not {', '.join(sorted(names.keys() - ids))}")
        options = [
            {**option, "names": {**option["names"], language: names[option["id"]]}} if option["id"] in names else option
            for option in options
        ]
    return list(options)


def _whole(value: Any) -> bool:
    return isinstance(value, int) or (isinstance(value, float) and value.is_integer())


def named(options: Iterable[Option], language: str) -> dict[str, str]:
    """What people read for each option: id -> name in a language."""
    return {option.id: say(option.names, language) for option in options}


def by_id(slots: Sequence[Slot]) -> dict[str, Slot]:
    """Slots by their ids."""
    return {slot.id: slot for slot in slots}
