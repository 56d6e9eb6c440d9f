"""What a finished decision must satisfy: mechanical checks of the game in it, and checks of its wording.

The paper (arXiv 2604.06562, appendix on synthesis) asks for a mechanical check, that the logic of the game is there,
and for emotion-related wording to be taken out of the options. Whether a story is true to its occupation needs a
reader.

Each check is a pure function of a decision; :func:`validate` runs them all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from affectlab.benchmarks.decisions import lexicon
from affectlab.benchmarks.decisions.record import Decision
from affectlab.games import GAMES, ROLES, broken_rules

VERSION = "1"
"""Changes whenever a decision that passed could fail, or the other way round."""

WORDS = (40, 160)
"""Fewest and most words of a story, earlier rounds not counted."""

MOST_UNEQUAL = 2.0
"""How many times the words of the shortest option the longest may have."""


class Violation(NamedTuple):
    """One rule that a decision breaks.

    Attributes:
        code: Stable name of the rule: a key of :data:`CHECKS`.
        message: What was found and what was expected.
        field: Field of the decision it was found in.
    """

    code: str
    message: str
    field: str


Check: TypeAlias = Callable[[Decision], Iterator[tuple[str, str]]]
"""From a decision to pairs of field and message."""

_EXTRAS: Mapping[str, tuple[str, ...]] = {
    "escalation": ("own", "other"),
    "trust_trustee": ("sent",),
    "ultimatum_responder": ("offer",),
    "sealed_bid": ("bidders",),
    "beauty_contest": ("players",),
}
"""What a story tells besides the parameters of its game, by role."""

_TERMS = (
    r"prisoner['’]?s['’]? dilemma|stag hunt|dollar auction|trust game|ultimatum game|beauty contest|game theor\w+|nash|"
    r"equilibri\w+|payoffs?|dominan\w+ strateg\w+|zero[- ]sum|cooperat\w+|co-operat\w+|defect\w*|trustors?|trustees?|"
    r"proposers?|responders?|all-pay"
)
_GAME_WORDS = re.compile(rf"\b(?:{_TERMS})\b", re.IGNORECASE)
# fmt: off
_WRITTEN = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
)
# fmt: on
_OTHERWISE: Mapping[float, str] = {
    0: r"nothing|nobody|none|no|empty",
    2: r"twice|doubles?d?|half",
    3: r"triples?d?|threefold",
    4: r"fourfold",
    60: r"hour|sixty",
    400: r"four hundred",
    0.5: r"half",
    0.75: r"three quarters",
    round(2 / 3, 6): r"two thirds",
}


def validate(decision: Decision) -> tuple[Violation, ...]:
    """Every rule the decision breaks, in the order of :data:`CHECKS`; empty when it is sound.

    Args:
        decision: A decision with its payoffs. What is missing is a violation too.
    """
    return tuple(
        Violation(code, message, field) for code, check in CHECKS.items() for field, message in check(decision)
    )


def tells(text: str, number: float) -> bool:
    """Whether a text tells a number, in digits or in words ("1,200", "three", "twice", "two thirds")."""
    digits = re.escape(f"{number:g}" if number < 1e6 else f"{number:.0f}")
    forms = [digits, re.escape(f"{number:,.10g}")]
    if number == int(number) and 0 <= number < len(_WRITTEN):
        forms.append(_WRITTEN[int(number)])
    if (other := _OTHERWISE.get(round(number, 6))) is not None:
        forms.append(other)
    return re.search(rf"(?<![\w.,])(?:{'|'.join(forms)})(?![\w]|[.,]\d)", text, re.IGNORECASE) is not None


def _structure(decision: Decision) -> Iterator[tuple[str, str]]:
    """The parameters are all there and make the game."""
    role = ROLES[decision.role]
    game = GAMES[role.game]
    wanted = {*game.defaults, *_EXTRAS.get(role.id, ())}
    if missing := sorted(wanted - decision.payoffs.keys()):
        yield "payoffs", f"missing {', '.join(missing)}"
    elif strange := sorted(decision.payoffs.keys() - wanted):
        yield "payoffs", f"{', '.join(strange)}: no parameter of {game.title}"
    else:
        for problem in broken_rules(game, decision.payoffs, repeated=bool(decision.history)):
            yield "payoffs", problem
        yield from _state(decision)


def _state(decision: Decision) -> Iterator[tuple[str, str]]:
    """What has happened in the story fits its parameters, and the options fit what has happened."""
    payoffs, values = decision.payoffs, [option.value for option in decision.options]
    if decision.role == "escalation":
        standing = payoffs["own"] < payoffs["other"] <= payoffs["budget"] - payoffs["step"]
        if not standing:
            yield "payoffs", "own < other, and one more step within the budget: expected a raise that can be made"
        return
    if ROLES[decision.role].kind == "binary":
        if decision.role == "ultimatum_responder" and not 0 <= payoffs["offer"] <= payoffs["pie"]:
            yield "payoffs", f"an offer of {payoffs['offer']:g} out of {payoffs['pie']:g}"
        return
    low = payoffs.get("low", 0.0)
    high = {
        "trust_trustor": lambda: payoffs["endowment"],
        "trust_trustee": lambda: payoffs["sent"] * payoffs["multiplier"],
        "ultimatum_proposer": lambda: payoffs["pie"],
        "sealed_bid": lambda: payoffs["budget"],
        "beauty_contest": lambda: payoffs["high"],
    }[decision.role]()
    if not low <= values[0] <= values[-1] <= high:
        yield "options", f"values from {values[0]:g} to {values[-1]:g}: expected them within {low:g} and {high:g}"
    if len(values) < 3:
        yield "options", f"{len(values)} options: expected 3 or more that stand in an order"


def _told(decision: Decision) -> Iterator[tuple[str, str]]:
    """Every number that the decision turns on is in the story."""
    text = " ".join((decision.scenario, *decision.history))
    payoffs = dict(decision.payoffs)
    step = payoffs.pop("step", None)
    if step is not None and "other" in payoffs:
        payoffs["next bid"] = payoffs["other"] + step
    if decision.role == "trust_trustee" and {"sent", "multiplier"} <= payoffs.keys():
        payoffs["arrived"] = payoffs["sent"] * payoffs["multiplier"]
    for name, number in payoffs.items():
        if not tells(text, number):
            yield "scenario", f"does not tell {name} = {number:g}"


def _option_numbers(decision: Decision) -> Iterator[tuple[str, str]]:
    """Options of an ordered role say their values."""
    if ROLES[decision.role].kind == "ordered":
        for option in decision.options:
            if not tells(option.text, option.value):
                yield "options", f"{option.text!r} does not say {option.value:g}"


def _emotion(decision: Decision) -> Iterator[tuple[str, str]]:
    words = lexicon.load()
    for option in decision.options:
        for emotion in words.count(option.text):
            yield "options", f"{option.text!r} has a word of {emotion}"
    for text in (decision.scenario, *decision.history):
        for emotion in words.count(text):
            yield "scenario", f"has a word of {emotion}"


def _game_words(decision: Decision) -> Iterator[tuple[str, str]]:
    for field, text in _shown(decision):
        for match in _GAME_WORDS.finditer(text):
            yield field, f"names the game or its theory: {match.group()!r}"


def _address(decision: Decision) -> Iterator[tuple[str, str]]:
    if not re.search(r"\byou(?:rs?)?\b", decision.scenario, re.IGNORECASE):
        yield "scenario", "speaks to nobody: expected a story told to you"


def _length(decision: Decision) -> Iterator[tuple[str, str]]:
    length = lexicon.count_words(decision.scenario)
    if not WORDS[0] <= length <= WORDS[1]:
        yield "scenario", f"{length} words: expected {WORDS[0]} to {WORDS[1]}"


def _balance(decision: Decision) -> Iterator[tuple[str, str]]:
    lengths = [len(option.text.split()) for option in decision.options]
    if max(lengths) > MOST_UNEQUAL * min(lengths):
        yield "options", f"{min(lengths)} to {max(lengths)} words: a longer option may be chosen for its length"


def _shown(decision: Decision) -> Iterator[tuple[str, str]]:
    yield "scenario", decision.scenario
    yield from (("history", text) for text in decision.history)
    yield from (("options", option.text) for option in decision.options)
    if decision.question:
        yield "question", decision.question


CHECKS: Mapping[str, Check] = MappingProxyType(
    {
        "structure": _structure,
        "told": _told,
        "option_numbers": _option_numbers,
        "emotion": _emotion,
        "game_words": _game_words,
        "address": _address,
        "length": _length,
        "balance": _balance,
    }
)
"""The checks by code, in the order they run."""
