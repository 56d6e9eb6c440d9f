from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affectlab.engine.interventions import SIDES
from affectlab.errors import UserError
from affectlab.steering.conditions import SCALES, Condition, Term, Threshold, layer_numbers, parse, ranges, third


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("neutral", "neutral"),
        ("anger@1.0", "anger@1.0"),
        ("anger@1", "anger@1.0"),
        ("happiness@0.10", "joy@0.1"),
        ("anger@0.1:relative:layers=10-19:positions=all", "anger@0.1:relative:layers=10-19"),
        ("anger@0.1:layers=3,2,1,7:kind=add:unit", "anger@0.1:layers=1-3,7"),
        ("fear@-0.5:kl:positions=generated", "fear@-0.5:kl:positions=generated"),
        ("joy@1: below = happiness@-.5", "joy@1.0:below=joy@-0.5"),
        ("random@1.0:seed=3", "random@1.0:seed=3"),
        ("random@1.0", "random@1.0:seed=0"),
        ("kl-random@0.1:relative:seed=2", "kl-random@0.1:relative:seed=2"),
        ("permuted:anger@1.0:seed=1", "permuted:anger@1.0:seed=1"),
        ("prompt:happy", "prompt:joy"),
        (" joy@1.0 + anger@0.5 : layers=late ", "anger@0.5:layers=late+joy@1.0"),
        ("prompt:fear+anger@1.0", "anger@1.0+prompt:fear"),
        ("fear@1.0:kind=project_out", "fear@1.0:kind=project_out"),
        ("fear@2.5:kind=clamp", "fear@2.5:kind=clamp"),
        ("moral outrage@1.0", "moral_outrage@1.0"),
    ],
)
def test_canonical_spelling(text: str, canonical: str) -> None:
    assert str(parse(text)) == canonical
    assert parse(canonical) == parse(text)


def test_what_is_read() -> None:
    condition = parse("joy@0.1:relative:layers=late:positions=prompt:kind=add_keep_norm+prompt:fear")
    assert condition.terms == (Term("emotion", "joy", 0.1, "relative", "late", "prompt", "add_keep_norm"),)
    assert condition.prompts == ("fear",)
    assert not condition.neutral
    assert Condition().neutral


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no strength"),
        ("anger", r"has no strength \(write anger@1.0\)"),
        ("anger@", "the strength '' is not a number"),
        ("anger@much", "'much' is not a number"),
        ("anger@nan", "not a number"),
        ("anger@1e5", "not a number"),
        ("@1.0", "is no emotion"),
        ("12@1.0", "is no emotion"),
        ("anger@1.0:strong", "'strong' is no option"),
        ("anger@1.0:layers=ten", "layers 'ten' is neither"),
        ("anger@1.0:layers=", "layers '' is neither"),
        ("anger@1.0:positions=last", "positions 'last' is none of all, prompt, generated"),
        ("anger@1.0:kind=replace", "kind 'replace' is none of"),
        ("anger@1.0:unit:relative", "scale is given twice"),
        ("random@1.0:seed=x", "seed 'x' is not a whole number"),
        ("random@1.0:seed=-1", "seed '-1' is not"),
        ("anger@1.0:seed=1", "seed= goes with"),
        ("neutral+anger@1.0", "neutral stands alone"),
        ("anger@1.0+anger@1", "stands in it twice"),
        ("prompt:joy+prompt:happiness", "stands in it twice"),
        ("anger@1.0:positions=prompt+joy@1.0", "same positions"),
        ("fear@0.5:kind=project_out", "write strength 1.0"),
        ("fear@0.5:kl:kind=clamp", "no kl dose"),
        ("fear@0:kl", "a kl dose is not 0"),
        ("kl-random@0.5:kl", "random@DOSE:kl"),
        ("joy@1:above=joy@0.1:below=joy@2", "above or below is given twice"),
        ("joy@1:above=fear", r"'above=fear' has no threshold \(write above=fear@0\.02\)"),
        ("joy@1:below=1@2", "'1' is no emotion"),
        ("joy@1:above=joy@0.1+fear@1", "the same above= or below="),
        ("joy@0.1:kl:above=joy@0", "above= goes with no dose in nats"),
        ("kl-random@1:below=joy@0", "below= goes with no dose in nats"),
        ("prompt:", "'' is no emotion"),
        ("prompt:angre", r"known; did you mean anger\?$"),
        ("anger@1.0:layers=1-999999999", "no model has that many"),
    ],
)
def test_what_is_wrong_is_said(text: str, says: str) -> None:
    with pytest.raises(UserError, match=says) as caught:
        parse(text)
    # How conditions are written is told where they are written otherwise, and not where they mean what cannot be.
    meant = ("no model", "seed= goes", "write strength 1.0", "kl dose", "no dose", "random@DOSE", "did you mean")
    assert ("Write neutral, EMOTION@STRENGTH" in str(caught.value)) is not any(part in says for part in meant)


def test_a_strength_that_is_missing_or_misplaced_is_shown_where_it_belongs() -> None:
    """What the message says to write is read."""
    for text, write in (
        ("anger:kind=project_out", "anger@1.0:kind=project_out"),
        ("anger:kind=project_out@1.0", "anger@1.0:kind=project_out"),
        ("permuted:anger:seed=3", "permuted:anger@1.0:seed=3"),
        ("anger", "anger@1.0"),
        ("joy:relative:layers=3@0.1", "joy@0.1:relative:layers=3"),
    ):
        with pytest.raises(UserError, match=rf"\(write {write}\)"):
            parse(text)
        assert str(parse(write)) == write


def test_a_range_that_falls_may_be_a_slip_and_is_refused() -> None:
    for text in ("anger@1.0:layers=30-2", "anger@1.0:layers=5,30-2"):
        with pytest.raises(UserError, match=r"Layers 30-2: a range rises\. Write 2-30"):
            parse(text)
    # Single layers may stand in any order.
    assert str(parse("anger@1.0:layers=7,3-4,4-4")) == "anger@1.0:layers=3-4,7"


_terms = st.builds(
    lambda source, emotion, strength, scale, layers, seed: Term(
        source,
        "" if source == "random" else emotion,
        strength,
        scale,
        layers,
        seed=0 if source == "emotion" else seed,
    ),
    st.sampled_from(["emotion", "permuted", "random"]),
    st.sampled_from(["anger", "joy", "pride", "moral_outrage"]),
    st.decimals(-9, 9, places=3).filter(bool).map(float),
    st.sampled_from(SCALES),
    st.sampled_from(["middle", "late", "all", "best", "0", "3-5", "1,4-6"]),
    st.integers(0, 99),
)
_thresholds = st.builds(
    Threshold,
    st.sampled_from(SIDES),
    st.sampled_from(["fear", "moral_outrage"]),
    st.decimals(-9, 9, places=3).filter(bool).map(float),
)


@given(
    st.lists(_terms, max_size=3, unique_by=lambda term: (term.direction, term.layers)),
    st.lists(st.sampled_from(["joy", "fear"]), max_size=2, unique=True),
    st.none() | _thresholds,
)
def test_every_condition_is_read_back(terms: list[Term], prompts: list[str], only: Threshold | None) -> None:
    if only is not None:
        terms = [replace(term, only=only) for term in terms if term.scale != "kl"]
    condition = Condition(tuple(sorted(terms, key=str)), tuple(sorted(prompts)))
    assert parse(str(condition)) == condition


@given(st.sets(st.integers(0, 60), min_size=1))
def test_ranges_are_read_back(numbers: set[int]) -> None:
    assert layer_numbers(ranges(sorted(numbers))) == numbers


@pytest.mark.parametrize(
    ("n_layers", "first", "last"), [(24, 8, 15), (16, 5, 10), (26, 9, 16), (28, 9, 18), (30, 10, 19), (3, 1, 1)]
)
def test_case_213_the_middle_third(n_layers: int, first: int, last: int) -> None:
    assert third("middle", n_layers) == tuple(range(first, last + 1))


@given(st.integers(3, 200))
def test_thirds_are_all_layers_once(n_layers: int) -> None:
    assert [*third("early", n_layers), *third("middle", n_layers), *third("late", n_layers)] == [*range(n_layers)]


@pytest.mark.parametrize("n_layers", [1, 2])
def test_a_third_has_a_layer(n_layers: int) -> None:
    for name in ("early", "middle", "late"):
        assert set(third(name, n_layers)) <= set(range(n_layers))
        assert third(name, n_layers)


@pytest.mark.parametrize("strength", ["0.0000001", "100000000", ".5", "5.", "-0", "0.025", "-3"])
def test_every_strength_is_read_back_as_it_is_spelled(strength: str) -> None:
    condition = parse(f"anger@{strength}")
    assert parse(str(condition)) == condition
    assert condition.terms[0].strength == float(strength)


def test_no_strength_and_a_strength_of_minus_zero_are_one_condition() -> None:
    assert str(parse("anger@-0")) == str(parse("anger@0")) == "anger@0.0"


@pytest.mark.parametrize("text", ["anger@1e400", f"anger@{'9' * 400}", "anger@nan", f"random@1:seed={'1' * 5000}"])
def test_numbers_beyond_all_measure_are_refused(text: str) -> None:
    with pytest.raises(UserError, match="number"):
        parse(text)


@pytest.mark.parametrize(("text", "said"), [("prompt:angr", "did you mean anger"), ("prompt:neutral", "no emotion")])
def test_what_is_said_in_words_is_an_emotion(text: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "anger@1+anger@2",
        "anger@1+happiness@1+angry@0.5:kl",
        "random@1:seed=2+random@2:seed=2",
        "prompt:joy+prompt:happy",
    ],
)
def test_the_same_vector_stands_once_at_the_same_layers(text: str) -> None:
    with pytest.raises(UserError, match="stands in it twice; write the sum as one strength"):
        parse(text)


def test_the_same_vector_may_have_several_strengths_at_several_layers() -> None:
    assert len(parse("anger@1:layers=1-3+anger@2:layers=4").terms) == 2
    assert len(parse("random@1:seed=1+random@1:seed=2+permuted:joy@1+joy@1").terms) == 4


@pytest.mark.parametrize(
    ("text", "control"),
    [
        ("neutral", False), ("anger@1", False), ("prompt:anger", False), ("random@1", True), ("kl-random@1", True),
        ("permuted:anger@1", True), ("random@1+permuted:joy@1", True), ("anger@1+random@1", False),
        ("random@1+prompt:joy", False),
    ],
)  # fmt: skip
def test_a_control_has_vectors_and_no_emotion(text: str, control: bool) -> None:
    assert parse(text).control is control
