"""A CAREBench record as it stands in a file, and the item made of it.

Source: facts of the published code's formats (arXiv 2605.17176): a story, five core answers, ratings keyed by the
statement that was rated, two levels, two lists of groups; observers' records have the same shape.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any, get_args

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field

from affectlab.benchmarks.care import spaces
from affectlab.errors import UserError
from affectlab.items.fields import Identifier, OptionalText, Text, blank_is_absent
from affectlab.items.item import Gold, Item
from affectlab.items.load import spellings
from affectlab.labels import LabelSpace

_NUMBERED = re.compile(r"\s*(\d+)(?:\.0+)?\s*(?:[-\u2010-\u2015:.]\s*(.*\S))?\s*", re.DOTALL)


def level_in(space: LabelSpace, value: Any) -> int | None:
    """Level of a scale from a number, a label, or both (``"4 - Somewhat agree"``, with any dash).

    A whole number may be written with a point (``2.0``), as tables with gaps often are.

    Raises:
        ValueError: When it is none, or number and label disagree; completes "expected …".
    """
    value = blank_is_absent(value)
    if value is None:
        return None
    levels = {label.level: label for label in space if label.level is not None}
    wanted = "one of " + ", ".join(f"{level} - {label.names['en']}" for level, label in levels.items())
    if isinstance(value, str):
        named = space.resolve(value)
        if named is not None:
            return space[named].level
        numbered = _NUMBERED.fullmatch(value)
        if numbered is None:
            raise ValueError(wanted)
        number, text = int(numbered[1]), numbered[2]
        if number not in levels or (text and space.resolve(text) != levels[number].id):
            raise ValueError(wanted)
        return number
    if type(value) not in {int, float} or value not in levels:  # 2.0 == 2, and they hash alike
        raise ValueError(wanted)
    return int(value)


def labels_in(space: LabelSpace, value: Any) -> list[str] | None:
    """Label ids, in declared order, from a list of names or names joined by ``;``; none for ``[]`` and ``"None"``.

    ``None`` where there is nothing, or only blanks.

    Raises:
        ValueError: When a name is not in the space; completes "expected …".
    """
    if value is None:
        return None
    names = re.split(r"[;；]", value) if isinstance(value, str) else value
    if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise ValueError("a list of names")
    written = [name.strip() for name in names if name.strip()]
    if names and not written:  # blanks say nothing, as for a level; that there are none is [] or "None"
        return None
    if [name.casefold() for name in written] == ["none"]:
        return []
    found = {name: space.resolve(name) for name in written}
    if strange := [name for name, label in found.items() if label is None]:
        raise ValueError(f"groups of {space.name} only, not {strange[0]!r}; `affectlab labels {space.name}` lists them")
    return [label for label in space.ids if label in found.values()]


def _level(space: LabelSpace) -> BeforeValidator:
    return BeforeValidator(lambda value: level_in(space, value))


def _labels(space: LabelSpace) -> BeforeValidator:
    return BeforeValidator(lambda value: labels_in(space, value))


class Situation(BaseModel):
    """The story as told."""

    final_scenario: Text


class Answers(BaseModel):
    """The five open answers; what was not asked is absent."""

    relevance: OptionalText = None
    certainty: OptionalText = None
    congruence: OptionalText = None
    control: OptionalText = None
    accountability: OptionalText = None


class Reasoning(BaseModel):
    """The five answers, and the story with them woven in."""

    final_scenario: OptionalText = None
    summary_answers: Answers = Answers()


class Feelings(BaseModel):
    """Intensities and label sets."""

    positive_level: Annotated[int | None, _level(spaces.LEVELS["positive_level"])] = None
    negative_level: Annotated[int | None, _level(spaces.LEVELS["negative_level"])] = None
    positive_emotion_labels: Annotated[list[str] | None, _labels(spaces.SETS["positive_labels"])] = None
    negative_emotion_labels: Annotated[list[str] | None, _labels(spaces.SETS["negative_labels"])] = None


class Chain(BaseModel):
    """One person's chain on a story, from reasoning to feelings. Anything may be missing.

    Attributes:
        participant_id: Code of the person within the study.
        cognitive_questions: Core answers.
        appraisal_ratings: Statement, or name of the dimension -> level from 1 to 5, as number, words or both.
        emotion_labels: Feelings.
    """

    model_config = ConfigDict(frozen=True, populate_by_name=True)

    participant_id: Annotated[str | None, BeforeValidator(lambda v: None if v is None else str(v))] = None
    cognitive_questions: Reasoning = Reasoning()
    appraisal_ratings: dict[str, Annotated[int | None, _level(spaces.AGREEMENT)]] = {}
    emotion_labels: Feelings = Feelings()


class Observer(Chain):
    """An observer's chain.

    Attributes:
        persona: Who the person is: demographics and Big Five, by name; may be nested.
        listed: Dimensions in whose counterfactual folder the record stands.
    """

    persona: dict[str, Any] | None = Field(
        default=None, validation_alias=AliasChoices("persona", "demographics", "participant")
    )
    listed: list[str] = []


def _as_told(story: Any) -> Any:
    return {"final_scenario": story} if isinstance(story, str) else story


class Record(Chain):
    """A first-person record with the chains of its observers.

    Attributes:
        id: Unique within the data; the file's stem where every record is a file.
        story_collection: The story; plain text will do.
        observers: Third-person chains on it.
    """

    id: Identifier = Field(validation_alias=AliasChoices("id", "sample_id", "story_id", "participant_id"))
    story_collection: Annotated[Situation, BeforeValidator(_as_told)] = Field(
        validation_alias=AliasChoices("story_collection", "story")
    )
    observers: list[Observer] = Field(default=[], validation_alias=AliasChoices("observers", "third_person"))


def weave(story: str, core: Sequence[str]) -> str:
    """A story followed by reasoning about it."""
    return "\n".join((story, " ".join(core)))


def chain_answers(chain: Chain, dimension_of: Callable[[str], str]) -> dict[str, Any]:
    """A chain's answers by slot; slots without one are absent.

    Raises:
        UserError: When a rated statement is no dimension, or two are the same.
    """
    found: dict[str, Any] = {}
    for statement, level in chain.appraisal_ratings.items():
        dimension = dimension_of(statement)
        if dimension in found:
            raise UserError(f"each dimension rated once in appraisal_ratings, not {dimension} twice")
        found[dimension] = level
    feelings = chain.emotion_labels
    core = chain.cognitive_questions.summary_answers
    answers = {
        **{dimension: found.get(dimension) for dimension in spaces.DIMENSIONS},
        "positive_level": feelings.positive_level,
        "negative_level": feelings.negative_level,
        "positive_labels": feelings.positive_emotion_labels,
        "negative_labels": feelings.negative_emotion_labels,
        **{slot: getattr(core, group) for slot, group in zip(spaces.CORE, spaces.GROUPS, strict=True)},
    }
    return {slot: answer for slot, answer in answers.items() if answer is not None}


def persona_lines(persona: Mapping[str, Any]) -> list[str]:
    """Who a person is, one fact a line (``"age: 34"``), nested names joined."""
    lines: list[str] = []
    for name, value in persona.items():
        if isinstance(value, Mapping):
            lines += [f"{name.replace('_', ' ')}, {line}" for line in persona_lines(value)]
        elif value not in (None, ""):
            lines.append(f"{name.replace('_', ' ')}: {value}")
    return lines


def to_item(record: Record, index: int, statements: Mapping[str, str]) -> Item:
    """The record as an item: gold is the first person's chain, inputs what protocols may give.

    Args:
        record: The record.
        index: Its position in the data, from 0.
        statements: Dimension -> the statement raters saw; empty for our own.

    Raises:
        UserError: When a rating cannot be told to a dimension, or two observers have one name.
    """
    by_statement = {plain(statement): dimension for dimension, statement in statements.items()}

    def dimension_of(written: str) -> str:
        found = by_statement.get(plain(written)) or spaces.APPRAISALS.resolve(written)
        if found is None:
            raise UserError(
                f"ratings by dimension, and {written!r} in appraisal_ratings names none. The release keys ratings by "
                "the statement rated: give those with --set statements=FILE, a JSON object from dimension to statement"
            )
        return found

    story = record.story_collection.final_scenario
    own = chain_answers(record, dimension_of)
    inputs: dict[str, Any] = {}
    # Longer texts first: the story is a part of the others.
    if woven := _woven(record, story, own):
        inputs["woven"] = woven
    inputs |= {slot: own[slot] for slot in spaces.CORE if slot in own}
    inputs["story"] = story
    if statements:
        inputs["statements"] = dict(statements)
    if ratings := {dimension: own[dimension] for dimension in spaces.DIMENSIONS if dimension in own}:
        inputs["ratings"] = ratings
    if record.observers:
        inputs["observers"] = _observers(record.observers, story, dimension_of)
    gold: dict[str, Gold] = {slot: tuple(value) if slot in spaces.SETS else value for slot, value in own.items()}
    return Item(id=record.id, index=index, inputs=inputs, gold=gold)


def _observers(people: Sequence[Observer], story: str, dimension_of: Callable[[str], str]) -> list[dict[str, Any]]:
    made = [_observer(one, place, story, dimension_of) for place, one in enumerate(people)]
    ids = [one["id"] for one in made]
    if twice := sorted({name for name in ids if ids.count(name) > 1}):
        raise UserError(f"each observer of a story under a participant_id of their own, not two under {twice[0]!r}")
    return made


def _observer(one: Observer, place: int, story: str, dimension_of: Callable[[str], str]) -> dict[str, Any]:
    answers = chain_answers(one, dimension_of)
    return {
        "id": one.participant_id or str(place + 1),
        "woven": _woven(one, story, answers),
        "persona": persona_lines(one.persona or {}),
        "answers": answers,
        "listed": one.listed,
    }


def _woven(chain: Chain, story: str, answers: Mapping[str, Any]) -> str:
    core = [answers[slot] for slot in spaces.CORE if slot in answers]
    return chain.cognitive_questions.final_scenario or (weave(story, core) if core else "")


def unread_keys(data: Mapping[str, Any], record: type[BaseModel] = Record, within: str = "") -> Iterator[str]:
    """Keys inside a record that no field reads, dotted (``"emotion_labels.positiv_level"``).

    Those of the record itself are left to the loader, which names them as columns.
    """
    for name, value in data.items():
        named = next((one for one in record.model_fields.items() if name in spellings(*one)), None)
        if named is None or (within and name != next(one for one in spellings(*named) if one in data)):
            if within:
                yield within + name
            continue
        _, field = named
        inner = next((kind for kind in (field.annotation, *get_args(field.annotation)) if _is_record(kind)), None)
        for part in value if isinstance(value, list) else (value,):
            if inner is not None and isinstance(part, Mapping):
                yield from unread_keys(part, inner, f"{within}{name}.")


def _is_record(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def plain(statement: str) -> str:
    """A statement as it is compared with others: without case, amount of white space and full stop."""
    return " ".join(statement.casefold().split()).rstrip(".")
