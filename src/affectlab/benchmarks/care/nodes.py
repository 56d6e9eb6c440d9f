"""RQ1 and RQ2: the nodes s→r, s→a, s→e, and what changes when more of the chain is given.

``given`` names what is told before the questions: ``s`` the story, ``r`` the writer's reasoning, ``a`` the writer's
ratings, ``own`` the model's own reasoning, asked for first in the same run, and ``core_…`` one of the writer's five
answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from affectlab.benchmarks.base import Answered, Asking
from affectlab.benchmarks.care import prompts, questions, spaces
from affectlab.benchmarks.care.questions import Situation
from affectlab.benchmarks.care.record import weave
from affectlab.errors import UserError
from affectlab.items import Item
from affectlab.metrics.predictions import Prediction
from affectlab.models.base import Ability, Request, Response

OWN = "s+own"
INJECTED = ("s", "s+r", "s+a", "s+r+a", OWN)
ONE_CORE = tuple(f"s+{slot}" for slot in spaces.CORE)


def asked_under(given: str) -> tuple[str, ...]:
    """Slots asked when ``given`` is told: ratings and feelings, but no ratings where they are given."""
    groups = "e" if "a" in given.split("+") else "ae"
    return tuple(slot for group in groups for slot in questions.slots_of(group))


def situation(item: Item, given: str, own: Sequence[str] = ()) -> str:
    """What is told before the questions.

    Args:
        item: The item.
        given: One of :data:`INJECTED` or :data:`ONE_CORE`.
        own: The model's own core answers, for ``s+own``.

    Raises:
        UserError: When the record does not hold what is to be given.
    """
    story = str(item.inputs["story"])
    parts = given.split("+")[1:]
    for part in parts:
        if part in spaces.CORE:
            story = weave(story, [_held(item, part, f"answer to the core question on {part.removeprefix('core_')}")])
    if "own" in parts and own:
        story = weave(story, own)
    if "r" in parts:
        story = _held(item, "woven", "reasoning (cognitive_questions)")
    if "a" in parts:
        ratings = _held(item, "ratings", "appraisal_ratings")
        sentences = prompts.rated_sentences(ratings, item.inputs.get("statements", {}))
        story = prompts.APPRAISALS.fill(story=story, sentences=sentences)
    return story


def _held(item: Item, name: str, what: str) -> Any:
    if name not in item.inputs:
        raise UserError(f"Record {item.id!r} has no {what}, which this protocol gives. Ask it with --protocol s.")
    return item.inputs[name]


@dataclass(frozen=True)
class Given:
    """Ratings and feelings, asked one by one after one or several beginnings.

    Attributes:
        name: What the user types.
        summary: For lists.
        given: Presentation -> what is told; the first has no name.
        by_likelihood: Whether options are scored instead of generated; of label sets, Yes and No for each label.
    """

    name: str
    summary: str
    given: Mapping[str, str]
    by_likelihood: bool = False

    @property
    def needs(self) -> frozenset[Ability]:
        """Scoring or generation; both where the model's own reasoning comes first."""
        if not self.by_likelihood:
            return frozenset({Ability.GENERATE})
        return frozenset({Ability.SCORE, *((Ability.GENERATE,) if OWN in self.given.values() else ())})

    def requests(self, item: Item, asking: Asking, answered: Answered) -> Sequence[Request]:
        """One request a slot and presentation; with the model's own reasoning, first its five questions."""
        found: list[Request] = []
        for variant, given in self.given.items():
            own: list[str] = []
            if given == OWN:
                story = Situation(situation(item, "s"), variant)
                found += questions.asked(item, spaces.CORE, story, asking)
                if any((variant, slot) not in answered for slot in spaces.CORE):
                    continue
                own = _own(item, variant, answered)
            told = Situation(situation(item, given, own), variant)
            found += questions.asked(item, asked_under(given), told, asking, by_likelihood=self.by_likelihood)
        return found

    def read(self, item: Item, asking: Asking, answered: Answered) -> Sequence[Prediction]:
        """One prediction a slot, two where options were scored; flags ratings that rest on incomplete own reasoning."""
        missing = {
            variant
            for variant, given in self.given.items()
            if given == OWN and len(_own(item, variant, answered)) < len(spaces.CORE)
        }

        def flags(variant: str, slot: str) -> tuple[str, ...]:
            return ("own_reasoning_incomplete",) if variant in missing and slot not in spaces.CORE else ()

        return questions.read_all(item, answered, lambda _, slot: item.gold.get(slot), flags)

    def ideal_reply(self, item: Item, request: Request, answer: Mapping[str, Any], asking: Asking) -> Response:
        """The answer's words, or log-probabilities with all mass on it."""
        return questions.reply(request, answer[questions.slot_of(request.step)])


def _own(item: Item, variant: str, answered: Answered) -> list[str]:
    """The model's core answers that could be read; none is filled in."""
    found = []
    for slot in spaces.CORE:
        if (response := answered.get((variant, slot))) is not None:
            reading = questions.read(item, (variant, slot), response, None)[0]
            if reading.value is not None:
                found.append(str(reading.value))
    return found


@dataclass(frozen=True)
class Core:
    """The five open questions."""

    name: str = "core"
    summary: str = "s→r: the five core appraisals in the model's own words, from the story"
    given: Mapping[str, str] = field(default_factory=lambda: {"": "s"})
    by_likelihood: bool = False
    needs: frozenset[Ability] = frozenset({Ability.GENERATE})

    def requests(self, item: Item, asking: Asking, answered: Answered) -> Sequence[Request]:
        """One request a question."""
        told = Situation(situation(item, "s"))
        return questions.asked(item, spaces.CORE, told, asking)

    def read(self, item: Item, asking: Asking, answered: Answered) -> Sequence[Prediction]:
        """One prediction a question."""
        return questions.read_all(item, answered, lambda _, slot: item.gold.get(slot))

    def ideal_reply(self, item: Item, request: Request, answer: Mapping[str, Any], asking: Asking) -> Response:
        """The writer's own answer."""
        return questions.reply(request, answer[request.step])


_TOLD = {
    "s": ("the story", "s→a and s→e"),
    "s+r": ("the story and the writer's reasoning", "s+r"),
    "s+a": ("the story and the writer's ratings; asks for the feelings", "s+a"),
    "s+r+a": ("the story, reasoning and ratings; asks for the feelings", "s+r+a"),
    OWN: ("the story and the model's own reasoning, asked for first", "s+r̂"),
}


def _single(given: str, *, by_likelihood: bool) -> Given:
    told, paper = _TOLD[given]
    how = (
        "options scored by likelihood, labels by Yes and No"
        if by_likelihood
        else "ratings, levels and label sets in words"
    )
    suffix = "-likelihood" if by_likelihood else ""
    return Given(f"{given}{suffix}", f"{paper}: told {told}; {how}", {"": given}, by_likelihood)


def _several(name: str, summary: str, given: Sequence[str]) -> tuple[Given, Given]:
    shown = {"": given[0], **{one: one for one in given[1:]}}
    return (
        Given(name, summary, shown),
        Given(f"{name}-likelihood", f"{summary}; by likelihood", shown, by_likelihood=True),
    )


NODES: tuple[Given | Core, ...] = (
    _single("s", by_likelihood=False),
    _single("s", by_likelihood=True),
    Core(),
    *(_single(given, by_likelihood=scored) for given in INJECTED[1:] for scored in (False, True)),
    *_several("injection", "RQ2 in one run: s, s+r, s+a, s+r+a, s+r̂ and their paired differences from s", INJECTED),
    *_several("one-core", "RQ2 with one core answer at a time, beside s", ("s", *ONE_CORE)),
)
"""Protocols of RQ1 and RQ2, the paper's first node first."""
