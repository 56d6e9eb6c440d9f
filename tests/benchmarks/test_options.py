from __future__ import annotations

import pytest

from affectlab.benchmarks.options import flag
from affectlab.errors import UserError


@pytest.mark.parametrize(
    ("written", "on"), [("yes", True), ("true", True), (" YES ", True), ("no", False), ("False", False)]
)
def test_a_flag_is_yes_or_no_or_true_or_false(written: str, on: bool) -> None:
    assert flag({"strict": written}, "strict") is on


def test_a_flag_is_off_unless_given_and_refuses_what_is_neither() -> None:
    assert flag({}, "strict") is False
    with pytest.raises(UserError, match="--set strict=1: expected yes or no"):
        flag({"strict": "1"}, "strict")
