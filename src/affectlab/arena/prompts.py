"""What a player is told: the rules with their numbers, all earlier rounds as it saw them, and what to answer.

Options have plain names without judgement ("A" and "B" with what they do), never those of game theory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from affectlab.arena.match import Made, Match, Round, Waiting
from affectlab.games import Turn
from affectlab.games.amounts import amount
from affectlab.reading import NumberRange, Outcome, Reading, read_choice, read_number

ANSWER = "ANSWER:"
"""What the assistant's turn starts with when values are scored."""

NAMES: Mapping[str, tuple[str, str]] = {
    "prisoners_dilemma": ("take for yourself", "put in for both"),
    "stag_hunt": ("do the safe thing alone", "do the joint thing"),
    "escalation": ("stop", "raise"),
    "ultimatum_responder": ("accept", "reject"),
}
"""What the two options of a binary role are called, by value 0 and 1."""

_AMOUNTS: Mapping[str, str] = {
    "trust_trustor": "How many points do you send? Any whole number from {low} to {high}.",
    "trust_trustee": "How many points do you return? Any whole number from {low} to {high}.",
    "ultimatum_proposer": "How many points do you offer to the other? Any whole number from {low} to {high}.",
    "sealed_bid": "How many points do you bid? Any whole number from {low} to {high}.",
    "beauty_contest": "Which number do you name? Any whole number from {low} to {high}.",
}
_DID: Mapping[str, str] = {
    "trust_trustor": "sent {value}",
    "trust_trustee": "returned {value}",
    "ultimatum_proposer": "offered {value}",
    "sealed_bid": "bid {value}",
    "beauty_contest": "named {value}",
}


def system(match: Match, waiting: Waiting) -> str:
    """The system turn: what is played, for how many rounds, and how to reply."""
    played = match.setup
    values = {name: amount(value) for name, value in {**played.game.defaults, **played.parameters}.items()}
    rounds = f"You play {played.rounds} rounds with the same others." if played.rounds > 1 else "You play one round."
    swap = " You change places after every round." if played.alternate else ""
    rule = _RULES_TOLD[played.game.id](values, len(match.players))
    reply = f"Reply with exactly one line and nothing more:\n{_format(waiting.turn)}"
    return f"{rule}\n{rounds}{swap} You want as many points as you can get.\n{reply}"


def user(match: Match, waiting: Waiting) -> str:
    """The user turn: earlier rounds, what is known of this one, and the question."""
    told = "\n".join(f"Round {one.number + 1}: {_told(one, waiting.player)}" for one in match.rounds)
    knows = "; ".join(f"{name}: {amount(value)}" for name, value in waiting.turn.knows.items())
    number = f"This is round {waiting.round + 1} of {match.setup.rounds}."
    parts = (
        f"So far:\n{told}" if told else "",
        f"{number} {knows[:1].upper()}{knows[1:]}." if knows else number,
        _question(match, waiting),
    )
    return "\n\n".join(filter(None, parts))


def options(match: Match, waiting: Waiting) -> Mapping[str, float]:
    """Values of a binary role by letter; which one is A turns with the round and the player."""
    turned = (waiting.round + waiting.player + waiting.nth) % 2
    first, second = waiting.turn.legal[::-1] if turned else waiting.turn.legal
    return {"A": first, "B": second}


def read(match: Match, waiting: Waiting, text: str | None, finish: str) -> tuple[Reading, float | None]:
    """The reading of a reply and the value it chooses; ``None`` when it chooses none that is legal."""
    turn = waiting.turn
    if turn.role.kind == "binary":
        shown = options(match, waiting)
        reading = read_choice(text, {letter: _name(turn, value) for letter, value in shown.items()}, finish=finish)
        return reading, shown[reading.value] if reading.ok else None
    wanted = NumberRange(turn.legal[0], turn.legal[-1], integer=True, plain=True)
    reading = read_number(text, wanted, finish=finish)
    return reading, float(reading.value) if reading.ok else None


def scored(match: Match, waiting: Waiting) -> Mapping[str, float]:
    """Values by the text that is scored for them, right after :data:`ANSWER`."""
    if waiting.turn.role.kind == "binary":
        return {f" {letter}": value for letter, value in options(match, waiting).items()}
    return {f" {amount(value)}": value for value in waiting.turn.legal}


def most_likely(match: Match, waiting: Waiting, logprobs: Sequence[float] | None) -> tuple[Outcome, float | None]:
    """The value with the highest log-probability; two that are equally likely are ambiguous."""
    values = list(scored(match, waiting).values())
    if logprobs is None or len(logprobs) != len(values):
        return Outcome.EMPTY, None
    best = [value for value, score in zip(values, logprobs, strict=True) if score == max(logprobs)]
    return (Outcome.OK, best[0]) if len(best) == 1 else (Outcome.AMBIGUOUS, None)


def again(waiting: Waiting) -> str:
    """What follows a reply that could not be read."""
    return (
        f"That could not be read as one of the possible answers. Reply with exactly one line:\n{_format(waiting.turn)}"
    )


def _question(match: Match, waiting: Waiting) -> str:
    turn = waiting.turn
    if turn.role.kind == "binary":
        lines = "\n".join(f"{letter}. {_name(turn, value)}" for letter, value in options(match, waiting).items())
        return f"What do you do?\n{lines}"
    return _AMOUNTS[turn.role.id].format(low=amount(turn.legal[0]), high=amount(turn.legal[-1]))


def _format(turn: Turn) -> str:
    return "ANSWER: <letter>" if turn.role.kind == "binary" else "ANSWER: <number>"


def _name(turn: Turn, value: float) -> str:
    return NAMES[turn.role.id][int(value)]


def _told(one: Round, player: int) -> str:
    moves = "; ".join(
        f"{'you' if move.player == player else _other(one, move, player)} {_did(move)}" for move in one.moves
    )
    others = [paid for index, paid in enumerate(one.payoffs) if index != player]
    theirs = " and ".join(map(amount, others))
    mine = amount(one.payoffs[player])
    return f"{moves}. You got {mine}, {'the other' if len(others) == 1 else 'the others'} {theirs}."


def _other(one: Round, move: Made, player: int) -> str:
    if len(one.payoffs) == 2:
        return "the other"
    return f"player {move.player + 1}"


def _did(move: Made) -> str:
    if move.role in NAMES:
        return f"chose to {NAMES[move.role][int(move.value)]}"
    return _DID[move.role].format(value=amount(move.value))


def _prisoners_dilemma(given: Mapping[str, str], seats: int) -> str:
    take, put = NAMES["prisoners_dilemma"]
    return (
        f"You and one other choose at the same time, each between two things: to {take} or to {put}. "
        f"If both {put}, each gets {given['R']} points. If both {take}, each gets {given['P']}. "
        f"If one takes and the other puts in, the one who takes gets {given['T']} and the other {given['S']}."
    )


def _stag_hunt(given: Mapping[str, str], seats: int) -> str:
    safe, joint = NAMES["stag_hunt"]
    return (
        f"You and one other choose at the same time, each between two things: to {safe} or to {joint}. "
        f"If both {joint}, each gets {given['R']} points. Who does the safe thing gets {given['P']} if the other "
        f"does it too, and {given['T']} if not. Who does the joint thing without the other gets {given['S']}."
    )


def _escalation(given: Mapping[str, str], seats: int) -> str:
    return (
        f"You and one other bid in turn for a prize of {given['prize']} points. To raise is to bid {given['step']} "
        "more than the other's standing bid; to stop ends the bidding. The higher bid gets the prize, and both pay "
        f"their own standing bid, also the one who gets nothing. Nobody can bid more than {given['budget']}."
    )


def _trust(given: Mapping[str, str], seats: int) -> str:
    return (
        f"Two play. The first has {given['endowment']} points and sends any number of them to the second. Each point "
        f"sent becomes {given['multiplier']} on the way. The second then returns any number of what has arrived. "
        "Points not sent stay with the first, points not returned with the second."
    )


def _ultimatum(given: Mapping[str, str], seats: int) -> str:
    return (
        f"Two divide {given['pie']} points. The first offers the second a number of them. If the second accepts, the "
        "second gets the offer and the first the rest. If the second rejects, both get nothing."
    )


def _sealed_bid(given: Mapping[str, str], seats: int) -> str:
    return (
        f"{seats} bid for a prize of {given['prize']} points, all at the same time and unseen. The highest bid gets "
        "the prize; equal ones share it. Everyone pays their own bid, also those who get nothing. Nobody can bid more "
        f"than {given['budget']}."
    )


def _beauty_contest(given: Mapping[str, str], seats: int) -> str:
    return (
        f"{seats} each name a number from {given['low']} to {given['high']}, all at the same time and unseen. The "
        f"one nearest to {given['p']} times the average of all numbers gets {given['prize']} points; those who "
        "are equally near share them."
    )


_RULES_TOLD: Mapping[str, Callable[[Mapping[str, str], int], str]] = {
    "prisoners_dilemma": _prisoners_dilemma,
    "stag_hunt": _stag_hunt,
    "escalation": _escalation,
    "trust": _trust,
    "ultimatum": _ultimatum,
    "sealed_bid": _sealed_bid,
    "beauty_contest": _beauty_contest,
}
