from __future__ import annotations

import pytest

from affectlab.benchmarks.decisions.states import induced_states, state_of


@pytest.mark.parametrize(
    ("condition", "kind", "emotion", "dose"),
    [
        ("neutral", "neutral", "", ""),
        ("anger@1.0", "emotion", "anger", "1"),
        ("happiness@0.6", "emotion", "joy", "0.6"),
        ("anger@0.1:relative:layers=3-5", "emotion", "anger", "0.1 relative layers=3-5"),
        ("random@0.6:seed=3", "random", "", "0.6"),
        ("kl-random@0.6:seed=3", "kl-random", "", "0.6"),
        ("permuted:fear@1.5:seed=1", "permuted", "fear", "1.5"),
        ("prompt:sadness", "prompt", "sadness", ""),
        ("anger@1.0+prompt:fear", "other", "", ""),
        ("anger@-1.0", "other", "", "-1"),
        ("anger@0.0", "other", "", "0"),
    ],
)
def test_conditions_are_told_apart(condition: str, kind: str, emotion: str, dose: str) -> None:
    state = state_of(condition)
    assert (state.kind, state.emotion, state.dose) == (kind, emotion, dose)


def test_control_vectors_of_one_dose_are_told_apart_by_their_seed() -> None:
    states = induced_states(["neutral", "random@1.0:seed=0", "random@1.0:seed=3"])
    assert [(one.dose, one.seed) for one in states] == [("1", 0), ("1", 3)]
