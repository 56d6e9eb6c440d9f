"""A decision item as it stands in a file, and the item made of it.

A decision is a story told to the one who decides, in one role of one game, with options that stand in the order of
their values. Nothing in it is right or wrong: what is measured is whether choices move.

What a prediction of this benchmark carries, for whoever computes figures of it:

* slot ``choice``; ``gold`` is always ``None``;
* ``value`` is ``y``, the amount of the focal behaviour of the chosen option (a float), ``None`` when none was read;
* slices ``role`` (a key of ``affectlab.games.ROLES``), ``game``, ``source``, ``language``, ``turns`` (``single`` or
  ``multi``), and ``y_min`` and ``y_max``, the item's feasible range of ``y``, as text that ``float`` reads;
* ``detail`` (of rows, not of the table): ``option`` (its text), ``value`` (in the game's own terms), ``logprobs``
  where options were scored, and where a model reasoned ``reasoning``, ``reasoning_words`` and ``affective`` (emotion id
  -> how many of its words).

Source: the emotion-sensitive decisions paper (arXiv 2604.06562), section "Decision Dataset Construction".
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    FiniteFloat,
    ValidationInfo,
    field_validator,
)

from affectlab.errors import UserError, did_you_mean
from affectlab.games import GAMES, ROLES
from affectlab.items.fields import Identifier, OptionalText, Text, blank_is_absent
from affectlab.items.item import Item

SLOT = "choice"
"""The one slot of a decision."""

Source: TypeAlias = Literal["persona", "diplomacy", "starcraft", "sample", "other"]
"""Where a decision comes from: the paper's three sources, our bundled sample, anything else."""

_NAMES = {
    "sealed_auction": "sealed_bid",
    "sealed_bid_auction": "sealed_bid",
    "escalation_game": "escalation",
    "trust_game_trustor": "trust_trustor",
    "trust_game_trustee": "trust_trustee",
    "ultimatum_game_proposer": "ultimatum_proposer",
    "ultimatum_game_responder": "ultimatum_responder",
    "prisoner_s_dilemma": "prisoners_dilemma",
}
"""Names of roles in the authors' data, and other spellings."""


def role_id(value: Any) -> Any:
    """Id of a role in any of its spellings.

    Raises:
        ValueError: When text names none, completing "expected …".
    """
    if not isinstance(value, str):
        return value
    name = re.sub(r"\W+", "_", value.strip().casefold())
    name = _NAMES.get(name, name)
    if name in ROLES:
        return name
    if name in GAMES:
        raise ValueError(f"a role of that game: {' or '.join(role.id for role in GAMES[name].roles)}")
    import difflib

    near = did_you_mean(difflib.get_close_matches(name, ROLES, n=1))
    raise ValueError(f"one of {', '.join(ROLES)}{near}")


def _source(value: Any) -> Any:
    value = blank_is_absent(value)
    return "other" if value is None else value.strip().casefold() if isinstance(value, str) else value


def _from_cell(value: Any) -> Any:
    """A list or an object that a table's cell holds as JSON; anything else as it is.

    Raises:
        ValueError: When text cannot be one, completing "expected …".
    """
    if not isinstance(value, str) or not value.strip():
        return value
    try:
        return json.loads(value)
    except json.JSONDecodeError as error:
        raise ValueError(f"a list or an object in JSON ({error.msg} at character {error.pos + 1})") from error


def _history(value: Any) -> Any:
    """Rounds as lines; one text is taken for its lines, or for a list where it is one in JSON."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        with suppress(ValueError):
            value = _from_cell(value)
    if value is None:
        return []
    if isinstance(value, str):
        return [line.strip() for line in value.splitlines() if line.strip()]
    return value


def _payoffs(value: Any) -> Any:
    """By name; a blank cell holds none."""
    return {} if (found := blank_is_absent(_from_cell(value))) is None else found


class Option(BaseModel):
    """Something that can be chosen.

    Attributes:
        text: What it says, in words to the one who decides.
        value: In the game's own terms: an amount, a guess, 1 for cooperating, persisting or rejecting and 0 for not.
    """

    model_config = ConfigDict(frozen=True)

    text: Text
    value: FiniteFloat


class Decision(BaseModel):
    """A situation to decide in.

    Attributes:
        id: Unique within the file.
        role: One of the nine roles; names of the authors' data (``Trust_Game_Trustor``) are taken too.
        scenario: The situation, told to the one who decides.
        options: By ascending value.
        title: Of the situation, for people.
        question: What is asked at the end; the protocol's own question when absent.
        history: What happened in earlier rounds, one text each; more than none makes the item a multi-turn one.
        payoffs: Parameters of the game, by name, as the story tells them.
        source: ``persona``, ``diplomacy``, ``starcraft``, ``sample`` or ``other``.
        occupation: Of the one who decides.
        language: Code of the language it is written in (``en``, ``zh``).
        image: Path of an image shown with it, from the folder of the file.
        group: Shared by decisions that are not independent (both roles of one story).
    """

    model_config = ConfigDict(frozen=True)

    id: Identifier
    role: Annotated[str, BeforeValidator(role_id)] = Field(validation_alias=AliasChoices("role", "game_name", "game"))
    scenario: Text = Field(validation_alias=AliasChoices("scenario", "description", "event"))
    options: Annotated[tuple[Option, ...], BeforeValidator(_from_cell)]
    title: OptionalText = None
    question: OptionalText = None
    history: Annotated[tuple[Text, ...], BeforeValidator(_history)] = ()
    payoffs: Annotated[Mapping[str, FiniteFloat], BeforeValidator(_payoffs)] = Field(default_factory=dict)
    source: Annotated[Source, BeforeValidator(_source)] = "other"
    occupation: OptionalText = None
    language: Annotated[str, BeforeValidator(lambda value: blank_is_absent(value) or "en")] = "en"
    image: OptionalText = None
    group: OptionalText = None

    @field_validator("options")
    @classmethod
    def _in_order(cls, options: tuple[Option, ...], info: ValidationInfo) -> tuple[Option, ...]:
        values = [option.value for option in options]
        if len(options) < 2 or len(options) > 26:
            raise ValueError(f"2 to 26 options, not {len(options)}")
        if sorted(set(values)) != values:
            raise ValueError(f"options by ascending value, no value twice; found {', '.join(f'{v:g}' for v in values)}")
        texts = [" ".join(option.text.split()).casefold() for option in options]
        if len(set(texts)) < len(texts):
            raise ValueError("options that say different things")
        role = ROLES.get(info.data.get("role", ""))
        if role is not None and role.kind == "binary" and values != [0, 1]:
            raise ValueError(
                f"the two options of {role.id}: {role.options[0]} (value 0) and {role.options[1]} (value 1)"
            )
        return options


def to_item(decision: Decision, index: int, folder: Path | None = None) -> Item:
    """The decision as an item with the slot ``choice``, without gold.

    Args:
        decision: The decision.
        index: Its position in the file, from 0.
        folder: Where its image is looked for.

    Raises:
        UserError: When its image is not there.
    """
    image = "" if decision.image is None else str(((folder or Path()) / decision.image).resolve())
    if image and not Path(image).is_file():
        raise UserError(f"no image {image}")
    inputs: dict[str, Any] = {
        "scenario": decision.scenario.strip(),
        "options": [{"text": option.text.strip(), "value": option.value} for option in decision.options],
    }
    extras = {
        "question": decision.question,
        "history": list(decision.history),
        "payoffs": dict(decision.payoffs),
        "title": decision.title,
        "occupation": decision.occupation,
        "image": image,
    }
    return Item(
        id=decision.id,
        index=index,
        inputs={**inputs, **{name: value for name, value in extras.items() if value}},
        gold={},
        slices={
            "role": decision.role,
            "game": ROLES[decision.role].game,
            "source": decision.source,
            "language": decision.language,
            "turns": "multi" if decision.history else "single",
        },
        cluster=decision.group or decision.id,
    )


def values_of(item: Item) -> tuple[float, ...]:
    """Values of an item's options, ascending."""
    return tuple(float(option["value"]) for option in item.inputs["options"])


def ys(item: Item) -> tuple[float, ...]:
    """Amount of the focal behaviour in each option, in the order of the options."""
    values: Sequence[float] = values_of(item)
    role = ROLES[item.slices["role"]]
    return tuple(role.y(value, min(values), max(values)) for value in values)
