"""Records as the paper's authors publish them, brought into the fields of a decision.

Their files are JSON lists. A record has ``scenario`` (a title), ``description``, ``participants``, ``game_name``, and
its options by name of the behaviour: ``behavior_choices``, or for games of two roles ``proposer_behavior_choices`` and
``responder_behavior_choices`` (``trustor_…``, ``trustee_…``). One such record is two decisions of one group; the second
mover of it sees what a first mover chose. Options of the ordered games are levels, not amounts: none, low and high are
0, 1 and 2. Levels of the beauty contest count depth, so they are turned round into values (see ``GameRole.y``).

Source: the data of https://github.com/linmou/LLM_emotion_decision_making as published with arXiv 2604.06562.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from affectlab.benchmarks.decisions.record import role_id
from affectlab.errors import UserError
from affectlab.items.parse import Parsed, Row
from affectlab.items.problems import DataError


class _Seat(NamedTuple):
    """A role of a two-role game in a record."""

    role: str
    choices: str
    participant: str
    sees: str = ""
    """Field of the options one of which the other has chosen."""


_SEATS = {
    "trustor_behavior_choices": _Seat("trust_trustor", "trustor_behavior_choices", "Trustor"),
    "trustee_behavior_choices": _Seat(
        "trust_trustee", "trustee_behavior_choices", "Trustee", "trustor_behavior_choices"
    ),
    "proposer_behavior_choices": _Seat("ultimatum_proposer", "proposer_behavior_choices", "Proposer"),
    "responder_behavior_choices": _Seat(
        "ultimatum_responder", "responder_behavior_choices", "Responder", "proposer_behavior_choices"
    ),
}
_LEVELS = {
    "prisoners_dilemma": ("defect", "cooperate"),
    "stag_hunt": ("defect", "cooperate"),
    "escalation": ("withdraw", "escalate"),
    "trust_trustor": ("trust_none", "trust_low", "trust_high"),
    "trust_trustee": ("return_none", "return_medium", "return_high"),
    "ultimatum_proposer": ("offer_low", "offer_medium", "offer_high"),
    "ultimatum_responder": ("accept", "reject"),
    "sealed_bid": ("devote_low", "devote_medium", "devote_high"),
    "beauty_contest": ("commit_3", "commit_2", "commit_1", "commit_0"),
}
"""Names of behaviours by ascending value."""

FIRST_MOVES = ("low", "medium", "high")
"""What a second mover can be told that the first mover chose."""

_FIRST = {
    "trustor_behavior_choices": {"low": "trust_low", "high": "trust_high"},
    "proposer_behavior_choices": {"low": "offer_low", "medium": "offer_medium", "high": "offer_high"},
}
_USED = {
    "scenario",
    "description",
    "participants",
    "game_name",
    "behavior_choices",
    "previous_actions",
    "provenance",
    "job",
    *_SEATS,
}


def unfolded(source: str, read: Parsed, first_move: str) -> Parsed:
    """Rows with every record in the authors' form replaced by decisions; other rows stay as they are.

    Args:
        source: Where they were read, for errors.
        read: Rows as read from the file.
        first_move: One of :data:`FIRST_MOVES`: which option the first mover chose, for second movers.

    Raises:
        DataError: When all rows are bad.
    """
    rows: list[Row] = []
    problems = list(read.problems)
    for row in read.rows:
        if "behavior_choices" not in row.data and not _SEATS.keys() & row.data.keys():
            rows.append(row)
            continue
        try:
            rows += list(_decisions(row, first_move))
        except _WrongError as error:
            problems.append(row.problem(error.field, error.found, error.expected))
    if not rows:
        raise DataError(source, problems)
    return Parsed(rows, problems)


class _WrongError(ValueError):
    """A record in the authors' form that cannot be taken."""

    def __init__(self, field: str, found: str, expected: str) -> None:
        super().__init__(field)
        self.field, self.found, self.expected = field, found, expected


def _decisions(row: Row, first_move: str) -> Iterator[Row]:
    data = row.data
    provenance: dict[str, Any] = found if isinstance(found := data.get("provenance"), dict) else {}
    name = str(data.get("id") or provenance.get("id") or f"{row.number or row.line}")
    seats = [seat for field, seat in _SEATS.items() if field in data]
    common = {
        **{field: value for field, value in data.items() if field not in _USED},
        "title": data.get("scenario"),
        "source": _source(provenance),
        "group": name,
    }
    if not seats:
        role = _role(data)
        yield Row(
            row.line,
            {
                **common,
                "id": name,
                "role": role,
                "scenario": data.get("description"),
                "options": _options(data["behavior_choices"], role, "behavior_choices"),
                "history": _rounds(data.get("previous_actions")),
                "occupation": data.get("job"),
            },
            row.number,
            row.file,
        )
    for seat in seats:
        who, profile = _participant(data, seat)
        yield Row(
            row.line,
            {
                **common,
                "id": f"{name}-{seat.role.rpartition('_')[2]}",
                "role": seat.role,
                "scenario": f"You are {who}. {_text(data, 'description')}",
                "options": _options(data[seat.choices], seat.role, seat.choices),
                "history": [*_rounds(data.get("previous_actions")), *_seen(data, seat, first_move)],
                "occupation": profile,
            },
            row.number,
            row.file,
        )


def _source(provenance: Mapping[str, Any]) -> str:
    if not provenance:
        return "persona"
    return "starcraft" if "SC2Replay" in json.dumps(provenance) else "diplomacy"


def _role(data: Mapping[str, Any]) -> str:
    try:
        role: Any = role_id(data.get("game_name"))
    except ValueError as error:
        raise _WrongError("game_name", repr(data.get("game_name")), str(error)) from None
    if not isinstance(role, str):
        raise _WrongError("game_name", repr(role), "the name of a game")
    return role


def _options(choices: Any, role: str, field: str) -> list[dict[str, Any]]:
    wanted = _LEVELS[role]
    if not isinstance(choices, dict) or set(choices) != set(wanted):
        found = ", ".join(choices) if isinstance(choices, dict) else repr(choices)
        raise _WrongError(field, found[:80], f"the behaviours {', '.join(wanted)}")
    return [{"text": _text(choices, name, f"{field}."), "value": value} for value, name in enumerate(wanted)]


def _text(data: Mapping[str, Any], field: str, within: str = "") -> str:
    """A field that must hold a text: an absent one must not become a word of the story."""
    found = data.get(field)
    if not isinstance(found, str) or not found.strip():
        raise _WrongError(within + field, repr(found)[:60], "text that is not empty")
    return found


def _participant(data: Mapping[str, Any], seat: _Seat) -> tuple[str, str | None]:
    people = data.get("participants")
    for one in people if isinstance(people, list) else ():
        if isinstance(one, dict) and str(one.get("role", "")).casefold() == seat.participant.casefold():
            return _text(one, "name", f"participants ({seat.participant})."), one.get("profile")
    raise _WrongError("participants", "nobody", f"one with the role {seat.participant}")


def _seen(data: Mapping[str, Any], seat: _Seat, first_move: str) -> list[str]:
    if not seat.sees:
        return []
    choices, level = data.get(seat.sees), _FIRST[seat.sees].get(first_move)
    if level is None:
        known = ", ".join(_FIRST[seat.sees])
        raise UserError(f"first_move={first_move}: who moves first in this game chooses one of {known}.")
    if not isinstance(choices, dict) or level not in choices:
        raise _WrongError(seat.sees, "nothing", f"the behaviour {level}, which the second mover sees")
    other = next(one for one in _SEATS.values() if one.choices == seat.sees)
    return [f"{_participant(data, other)[0]}: {_text(choices, level, f'{seat.sees}.')}"]


def _rounds(actions: Any) -> list[str]:
    """Earlier rounds as texts: objects give their summary or what each did, pairs give who did what."""
    if actions is None:
        return []
    if not isinstance(actions, list):
        raise _WrongError("previous_actions", type(actions).__name__, "a list of rounds")
    return [_round(one) for one in actions]


def _round(one: Any) -> str:
    if isinstance(one, dict) and one.get("round_summary"):
        return _text(one, "round_summary", "previous_actions.")
    if isinstance(one, dict) and (did := {who: what for who, what in one.items() if who != "round_summary"}):
        return "; ".join(f"{who}: {_text(did, who, 'previous_actions.')}" for who in did)
    if isinstance(one, Sequence) and not isinstance(one, str) and len(one) == 2:
        return ": ".join(
            _text({"who": one[0], "what": one[1]}, field, "previous_actions.") for field in ("who", "what")
        )
    if isinstance(one, str) and one.strip():
        return one
    raise _WrongError("previous_actions", repr(one)[:60], "rounds as text, objects, or pairs of who and what")
