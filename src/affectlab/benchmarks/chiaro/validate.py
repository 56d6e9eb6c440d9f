"""What a finished Chiaro scene must satisfy: six validators, the single-cause heuristic, rules of rendering.

Source: Chiaro (arXiv 2609.03394), Appendix E (validators, single cause), Appendix D (banned terms) and
Appendix B (rules of the render step). Present tense and the neutrality of the cause need a reader; they are not
checked.

Each check is a pure function of a scene; :func:`validate` runs them all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from affectlab.benchmarks.chiaro import people
from affectlab.benchmarks.chiaro.lexicon import banned_terms, find_terms, leakage_terms
from affectlab.benchmarks.chiaro.record import LABEL_SPACE, Scene
from affectlab.labels import load as load_labels

VERSION = "1"
"""Changes whenever a scene that passed could fail, or the other way round."""

MAX_CHARACTERS = 300
"""Longest sentence, in Unicode code points (Appendix E, check 3)."""


class Violation(NamedTuple):
    """One rule that a scene breaks.

    Attributes:
        code: Stable name of the rule: a key of :data:`CHECKS`, or ``polarity_order``.
        message: What was found and what was expected.
        field: Field of the scene it was found in.
    """

    code: str
    message: str
    field: str


class Span(NamedTuple):
    """Where a span stands in a sentence, in code points. ``occurrences`` above 1: the first one was taken."""

    start: int
    end: int
    occurrences: int


Check: TypeAlias = Callable[[Scene], Iterator[tuple[str, str]]]
"""From a scene to pairs of field and message."""

_SPANS = ("cause_span", "evidence_a", "evidence_b")
_LITERAL_AGENT = re.compile(r"\b[Aa](?:gent|GENT)s?[\s_]+[AB]\b")
_QUOTATION = re.compile(
    r"[\"\u201c\u201d\u201e\u00ab\u00bb\u300c\u300d\uff02]|(?<!\w)['\u2018](?=\w)[^'\u2018\u2019]*[\w.,!?]['\u2019](?!\w)"
)
_SCREEN_TEXT = re.compile(
    r"\b(?:screen|display|monitor|phone|tablet|laptop|app|email|e-mail|message|notification|caption|banner|scoreboard)"
    r"\s+(?:reads|says|spells)\b",
    re.IGNORECASE,
)
_BECAUSE = re.compile(r"\bbecause\b", re.IGNORECASE)
_SECOND_SOURCE = re.compile(
    r"\b(?:while|whereas)\b.*\b(?:comes|stems|arises|results)\s+from\b", re.IGNORECASE | re.DOTALL
)


def validate(scene: Scene, *, positive_first: bool = False) -> tuple[Violation, ...]:
    """Every rule the scene breaks, in the order of :data:`CHECKS`; empty when it is sound.

    Args:
        scene: A scene with gold and spans. What is missing is a violation too.
        positive_first: Also ask that agent A's emotion be the positive one, as in the paper's own generation.
    """
    found = [Violation(code, message, field) for code, check in CHECKS.items() for field, message in check(scene)]
    if positive_first and scene.agent_a_emotion and _polarity(scene.agent_a_emotion) != "positive":
        message = f"{scene.agent_a_emotion} is negative: expected a positive emotion for agent A"
        found.append(Violation("polarity_order", message, "agent_a_emotion"))
    return tuple(found)


def find_span(sentence: str, span: str) -> Span | None:
    """The first occurrence of ``span`` as an exact substring of ``sentence``, and how many there are.

    Overlapping occurrences count. ``None`` when it does not occur, or is empty.
    """
    if not span:
        return None
    starts = [match.start() for match in re.finditer(f"(?={re.escape(span)})", sentence)]
    return Span(starts[0], starts[0] + len(span), len(starts)) if starts else None


def find_spans(scene: Scene) -> Mapping[str, Span]:
    """Offsets of the scene's spans by field name; a span that is missing or not in the sentence is absent."""
    located = {name: find_span(scene.sentence, getattr(scene, name) or "") for name in _SPANS}
    return {name: span for name, span in located.items() if span}


def valence_problem(emotions: Sequence[str | None]) -> str | None:
    """Why these are not one positive and one negative emotion of ``chiaro10``; ``None`` when they are."""
    space = load_labels(LABEL_SPACE)
    polarities = []
    for emotion in emotions:
        label = space.resolve(emotion) if emotion else None
        if label is None:
            return f"unknown or missing emotion {emotion!r}: expected one of {', '.join(space.ids)}"
        polarities.append(space.group_of(label))
    if sorted(polarities) != ["negative", "positive"]:
        return f"found {', '.join(map(str, emotions)) or 'none'}: expected one positive and one negative"
    return None


def single_cause_problem(text: str) -> str | None:
    """Why a text names two independent triggers; ``None`` when it does not.

    Two *because* clauses, or a *while … comes from …*, are taken for two triggers.
    """
    if len(_BECAUSE.findall(text)) > 1:
        return "two because-clauses: expected one event that brings about both outcomes"
    if _SECOND_SOURCE.search(text):
        return "a second source after while: expected one event that brings about both outcomes"
    return None


def _valence(scene: Scene) -> Iterator[tuple[str, str]]:
    problem = valence_problem((scene.agent_a_emotion, scene.agent_b_emotion))
    if problem:
        yield "agent_a_emotion", problem


def _banned(scene: Scene) -> Iterator[tuple[str, str]]:
    for field, text in _shown(scene):
        for term in find_terms(text, banned_terms()):
            yield field, f"holds the banned term {term!r}"


def _leakage(scene: Scene) -> Iterator[tuple[str, str]]:
    space = load_labels(LABEL_SPACE)
    for emotion in (scene.agent_a_emotion, scene.agent_b_emotion):
        if emotion is None or emotion not in space:
            continue
        for field, text in _shown(scene):
            for term in find_terms(text, leakage_terms(emotion)):
                yield field, f"holds {term!r}, which gives {emotion} away"


def _length(scene: Scene) -> Iterator[tuple[str, str]]:
    length = len(scene.sentence)
    if length > MAX_CHARACTERS:
        yield "sentence", f"{length} characters: expected at most {MAX_CHARACTERS}; say it more simply"


def _people(scene: Scene) -> Iterator[tuple[str, str]]:
    others = people.bystanders(scene.sentence, scene.agent_a_role, scene.agent_b_role)
    if others:
        yield (
            "sentence",
            f"besides the two agents {', '.join(others)} acts: expected two people who drive the action",
        )


def _spans(scene: Scene) -> Iterator[tuple[str, str]]:
    for field in _SPANS:
        span = getattr(scene, field)
        if span is None:
            yield field, "missing: expected an exact piece of the sentence"
        elif find_span(scene.sentence, span) is None:
            yield field, f"{span!r} is not an exact piece of the sentence"


def _evidence(scene: Scene) -> Iterator[tuple[str, str]]:
    spans = find_spans(scene)
    a, b = spans.get("evidence_a"), spans.get("evidence_b")
    if a and b and a.start < b.end and b.start < a.end:
        yield "evidence_b", "overlaps the evidence of agent A: expected two distinct pieces of the sentence"


def _role_collision(scene: Scene) -> Iterator[tuple[str, str]]:
    problem = people.role_collision(scene.agent_a_role, scene.agent_b_role)
    if problem:
        yield "agent_b_role", problem


def _role_absent(scene: Scene) -> Iterator[tuple[str, str]]:
    for field in ("agent_a_role", "agent_b_role"):
        absent = [word for word in people.role_prefix(getattr(scene, field)) if not find_terms(scene.sentence, [word])]
        if absent:
            yield (
                field,
                f"{' '.join(absent)!r} does not occur in the sentence: name the person as the sentence does",
            )


def _single_cause(scene: Scene) -> Iterator[tuple[str, str]]:
    for field, text in (
        ("sentence", scene.sentence),
        ("cause_effect_relation", scene.cause_effect_relation or ""),
    ):
        problem = single_cause_problem(text)
        if problem:
            yield field, problem


def _agent_letter(scene: Scene) -> Iterator[tuple[str, str]]:
    for field, text in _shown(scene):
        if _LITERAL_AGENT.search(text):
            yield field, "speaks of Agent A or Agent B: expected the people themselves"


def _dialogue(scene: Scene) -> Iterator[tuple[str, str]]:
    if _QUOTATION.search(scene.sentence):
        yield "sentence", "holds quotation marks: expected no dialogue"


def _screen_text(scene: Scene) -> Iterator[tuple[str, str]]:
    if _SCREEN_TEXT.search(scene.sentence):
        yield "sentence", "quotes a screen or message: expected no text on screens"


def _metadata(scene: Scene) -> Iterator[tuple[str, str]]:
    for field in ("setting", "mode", "scenario_type"):
        if not getattr(scene, field):
            yield field, "missing"


def _shown(scene: Scene) -> Iterator[tuple[str, str]]:
    for field in ("sentence", "setting", "agent_a_role", "agent_b_role"):
        yield field, getattr(scene, field)


def _polarity(emotion: str) -> str:
    return load_labels(LABEL_SPACE).group_of(emotion)


CHECKS: Mapping[str, Check] = MappingProxyType(
    {
        "valence": _valence,
        "banned_term": _banned,
        "leakage": _leakage,
        "length": _length,
        "people": _people,
        "span": _spans,
        "evidence_overlap": _evidence,
        "role_collision": _role_collision,
        "role_absent": _role_absent,
        "single_cause": _single_cause,
        "agent_letter": _agent_letter,
        "dialogue": _dialogue,
        "screen_text": _screen_text,
        "metadata": _metadata,
    }
)
"""The checks by code, in the order they run."""
