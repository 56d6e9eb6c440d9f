"""What error texts are made of."""

from __future__ import annotations

import pytest

from affectlab.errors import as_lines, did_you_mean, first_of


def test_near_names() -> None:
    assert did_you_mean(["joy", "pride"]) == "; did you mean joy or pride?"
    assert did_you_mean([]) == ""


@pytest.mark.parametrize(
    ("names", "shown"),
    [([], ""), (["a"], "a"), (["a", "b"], "a, b"), (["a", "b", "c"], "a, b and 1 more")],
)
def test_the_first_names_and_how_many_more(names: list[str], shown: str) -> None:
    assert first_of(names, 2) == shown


@pytest.mark.parametrize(
    ("problems", "shown"),
    [([], ""), (["a", "b"], "\n  a\n  b"), (["a", "b", "c", "d"], "\n  a\n  b\n  … and 2 more")],
)
def test_problems_one_a_line(problems: list[str], shown: str) -> None:
    assert as_lines(problems, 2) == shown
