"""A Chiaro scene as it stands in a file, and the item made of it.

Source: Chiaro (arXiv 2609.03394), section 3 and Appendices B to E, which name the fields, the two causal
modes and the six scenario types.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias, get_args

from pydantic import (
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
)

from affectlab.items.fields import Identifier, OptionalText, Text, blank_is_absent, label_of
from affectlab.items.item import Item
from affectlab.items.load import Loaded, load_items
from affectlab.labels import load as load_labels

LABEL_SPACE = "chiaro10"

Mode: TypeAlias = Literal["physical", "non_physical"]
"""Whether contact, force or a moved object brings the event about, or something seen, heard or known."""

Polarity: TypeAlias = Literal["positive", "negative"]

ScenarioType: TypeAlias = Literal[
    "zero_sum",
    "side_effect_spillover",
    "asymmetric_information",
    "unintended_consequence",
    "competing_preferences",
    "success_vs_failure",
]
"""The six causal structures that link the two outcomes (Appendix C)."""

MODES: tuple[str, ...] = get_args(Mode)
SCENARIO_TYPES: tuple[str, ...] = get_args(ScenarioType)


def _identifier(value: Any) -> Any:
    value = blank_is_absent(value)
    return re.sub(r"\W+", "_", value.strip().casefold()) if isinstance(value, str) else value


Emotion: TypeAlias = Annotated[str | None, label_of(LABEL_SPACE)]


def _both_spellings(prefix: str, suffix: str, letter: str) -> AliasChoices:
    return AliasChoices(f"{prefix}{letter.lower()}{suffix}", f"{prefix}{letter}{suffix}")


class Scene(BaseModel):
    """One event, two people, one positive and one negative emotion.

    Only ``id``, ``sentence`` and both roles are needed: a scene without gold can be predicted, not scored.
    Empty strings in the other fields mean "no value". The paper's spelling with a capital letter
    (``agent_A_role``, ``evidence_A``) is read as well. Other fields are not used; :func:`load` names them.

    Attributes:
        id: Unique within the file; numbers are read as text.
        sentence: What a model reads.
        setting: Where it happens, in one sentence; may be empty.
        agent_a_role: How the first person is told apart from the second.
        agent_b_role: How the second person is told apart from the first.
        agent_a_emotion: Gold of agent A: an id, name or alias of the ``chiaro10`` space.
        agent_b_emotion: Gold of agent B; of the other polarity than agent A's.
        agent_a_polarity: Polarity of agent A's emotion, for scenes without gold: it decides the five options.
        mode: Causal mode of the event.
        scenario_type: Causal structure that links the outcomes.
        cause_span: Piece of the sentence that names the shared event.
        evidence_a: Piece of the sentence that shows what the event means for agent A.
        evidence_b: Piece of the sentence that shows what the event means for agent B.
        cause_effect_relation: How the event leads to both outcomes, in one sentence.
        scene_group: Shared by versions of one scene (physical and non-physical), which are not independent.
        source: Where the scene comes from.
    """

    model_config = ConfigDict(frozen=True)

    id: Identifier
    sentence: Text
    setting: Annotated[str, BeforeValidator(lambda value: "" if value is None else value)] = ""
    agent_a_role: Text = Field(validation_alias=_both_spellings("agent_", "_role", "A"))
    agent_b_role: Text = Field(validation_alias=_both_spellings("agent_", "_role", "B"))
    agent_a_emotion: Emotion = Field(default=None, validation_alias=_both_spellings("agent_", "_emotion", "A"))
    agent_b_emotion: Emotion = Field(default=None, validation_alias=_both_spellings("agent_", "_emotion", "B"))
    agent_a_polarity: Annotated[Polarity | None, BeforeValidator(_identifier)] = Field(
        default=None, validation_alias=_both_spellings("agent_", "_polarity", "A")
    )
    mode: Annotated[Mode | None, BeforeValidator(_identifier)] = None
    scenario_type: Annotated[ScenarioType | None, BeforeValidator(_identifier)] = None
    cause_span: OptionalText = None
    evidence_a: OptionalText = Field(default=None, validation_alias=_both_spellings("evidence_", "", "A"))
    evidence_b: OptionalText = Field(default=None, validation_alias=_both_spellings("evidence_", "", "B"))
    cause_effect_relation: OptionalText = None
    scene_group: OptionalText = None
    source: OptionalText = None

    # Rules over two fields stand at the later one, so that a bad field elsewhere hides none of them. Messages complete
    # "expected …", as the loader prints them.

    @field_validator("agent_b_role")
    @classmethod
    def _two_people(cls, role: str, info: ValidationInfo) -> str:
        other = info.data.get("agent_a_role")
        if other is not None and _folded(role) == _folded(other):
            raise ValueError(f"two roles that tell the agents apart; agent_a_role is {other!r}")
        return role

    @field_validator("agent_b_emotion")
    @classmethod
    def _two_polarities(cls, gold_b: str | None, info: ValidationInfo) -> str | None:
        polarity = load_labels(LABEL_SPACE).group_of
        gold_a = info.data.get("agent_a_emotion")
        if gold_a and gold_b and polarity(gold_a) == polarity(gold_b):
            raise ValueError(
                f"one positive and one negative emotion, not {gold_a} and {gold_b} (both {polarity(gold_a)})"
            )
        return gold_b

    @field_validator("agent_a_polarity")
    @classmethod
    def _polarity_of_gold(cls, stated: str | None, info: ValidationInfo) -> str | None:
        polarity = load_labels(LABEL_SPACE).group_of
        gold_a, gold_b = info.data.get("agent_a_emotion"), info.data.get("agent_b_emotion")
        if stated and gold_a and polarity(gold_a) != stated:
            raise ValueError(f"the polarity of {gold_a} ({polarity(gold_a)})")
        if stated and gold_b and polarity(gold_b) == stated:
            raise ValueError(f"the opposite of the polarity of {gold_b} ({polarity(gold_b)})")
        return stated


def to_item(scene: Scene, index: int) -> Item:
    """The scene as an item: slots ``A`` and ``B``, sliced by causal mode and scenario type.

    Args:
        scene: The scene.
        index: Its position in the file, from 0.
    """
    gold = {"A": scene.agent_a_emotion, "B": scene.agent_b_emotion}
    slices = {"mode": scene.mode, "scenario_type": scene.scenario_type}
    return Item(
        id=scene.id,
        index=index,
        inputs={
            "sentence": scene.sentence,
            "setting": scene.setting,
            "role_A": scene.agent_a_role,
            "role_B": scene.agent_b_role,
            **({"polarity_A": scene.agent_a_polarity} if scene.agent_a_polarity else {}),
        },
        gold={slot: emotion for slot, emotion in gold.items() if emotion},
        slices={name: value for name, value in slices.items() if value},
        cluster=scene.scene_group or scene.id,
    )


def load(source: str, fields: Mapping[str, str], options: Mapping[str, str] | None = None) -> Loaded:
    """Read a file of scenes.

    Args:
        source: What :func:`affectlab.items.load.load_items` takes: a file, or ``hub:NAME``.
        fields: Our field name -> the file's, where they differ.
        options: None are known.

    Raises:
        UserError: Naming the file and every bad row (unknown label, two emotions of one polarity, two equal
            roles, a missing required field, a repeated id).
    """
    return load_items(source, fields, record=Scene, to_item=to_item)


def _folded(role: str) -> str:
    return " ".join(role.casefold().split())
