"""Where each emotion moves people's behaviour in each game role: the human direction d of aligned drift (NAD).

Source of the signs: the emotion-sensitive decisions paper (arXiv 2604.06562), appendix "The development of Behavior
shift alignment metric", its table of directional influence. The paper's table has seven rows for nine roles:

* its row for the Trust Game stands for both roles, as in the authors' published code;
* its row for the Ultimatum Game is about rejecting, which is the responder's. The proposer's signs are those of the
  authors' published code (``result_analysis/behavior_shift_alignment.py``), whose focal behaviour is a high offer.

In one cell the authors' code contradicts their paper: happiness in the Prisoner's Dilemma is -1 in the code, up in the
paper. The printed sign stands here.

The paper defines two kinds of evidence, direct (the game itself was played) and mapped (a decision tendency carried
over to the game), and prints no mark for any cell. The marks here are ours: *direct* where :data:`STUDIES` names a
study of that emotion in that game, *mapped* for every other sign. A cell without a sign is *weak*.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple, TypeAlias

Evidence: TypeAlias = Literal["direct", "mapped", "weak"]
"""The game itself was studied; carried over from another task, game or role; neither way, or too little known."""

EMOTIONS = ("joy", "anger", "disgust", "fear", "sadness", "surprise")
"""Ids of ``basic6_neutral`` in the order of the paper's columns (its "happy" is joy)."""


class Direction(NamedTuple):
    """Where one emotion moves one role's focal behaviour, and what that rests on."""

    direction: int
    evidence: Evidence


STUDIES: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        ("trust_trustor", "fear"): "Engelmann, Meyer, Ruff and Fehr 2019, Science Advances 5",
        ("ultimatum_responder", "anger"): "Pillutla and Murnighan 1996, Org. Behav. Hum. Decis. Process. 68",
        ("ultimatum_responder", "disgust"): "Moretti and di Pellegrino 2010, Emotion 10",
        ("ultimatum_responder", "sadness"): "Harlé and Sanfey 2007, Emotion 7",
        ("beauty_contest", "anger"): "Castagnetti, Proto and Sofianos 2023, J. Econ. Behav. Organ. 213",
    }
)
"""For each direct cell, by role and emotion, a study of that emotion in that game."""

# One sign for each of EMOTIONS.
_TABLE = {
    "prisoners_dilemma": "+--000",
    "stag_hunt": "+00-00",
    "escalation": "0+0-00",
    "trust_trustor": "+---00",
    "trust_trustee": "+---00",
    "ultimatum_proposer": "+--+-0",
    "ultimatum_responder": "-++++0",
    "sealed_bid": "++--++",
    "beauty_contest": "0-0000",
}


def _read(role: str, emotion: str, sign: str) -> Direction:
    direction = {"+": 1, "-": -1, "0": 0}[sign]
    return Direction(direction, "weak" if not direction else "direct" if (role, emotion) in STUDIES else "mapped")


DIRECTIONS: Mapping[str, Mapping[str, Direction]] = MappingProxyType(
    {
        role: MappingProxyType(
            {emotion: _read(role, emotion, sign) for emotion, sign in zip(EMOTIONS, signs, strict=True)}
        )
        for role, signs in _TABLE.items()
    }
)
"""Role id -> emotion id -> direction, all nine roles by all six emotions."""


def direction_of(role: str, emotion: str) -> Direction:
    """The direction of a role's focal behaviour under an emotion, and its evidence.

    Args:
        role: Id of a game role.
        emotion: Id of one of :data:`EMOTIONS`.

    Raises:
        KeyError: When there is no such role or emotion; an emotion without a direction is a question, not a 0.
    """
    return DIRECTIONS[role][emotion]
