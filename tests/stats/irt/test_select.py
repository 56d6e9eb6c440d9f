from __future__ import annotations

import numpy as np

from affectlab.stats.irt import select_items
from affectlab.stats.irt.checks import ItemCheck
from affectlab.stats.irt.stability import RespondentStability


def checked(item: str, discrimination: float, error: float = 0.02, problems: tuple[str, ...] = ()) -> ItemCheck:
    return ItemCheck(item, discrimination, 0.0, error, 0.4, True, problems)


def test_items_are_chosen_for_worth_and_for_what_they_are_about() -> None:
    checks = [checked("a", 2.0), checked("b", 1.9), checked("c", 1.5), checked("d", 1.4, 0.02, ("misfits",))]
    content = {"a": "nurse", "b": "nurse", "c": "baker"}
    found = select_items(checks, None, content, wanted=2)
    # After a, b is worth 1.9 - .2 - .5, c 1.5 - .2.
    assert found.kept == ("a", "c")
    assert found.coverage == {"nurse": 1, "baker": 1}
    assert found.dropped == {"d": "misfits", "b": "better or less covered items fill the set"}
    assert select_items(checks, None, content, wanted=2, redundancy=0.0).kept == ("a", "b")
    assert select_items(checks, None, content, wanted=5).short == 2


def test_items_that_move_with_their_respondents_are_worth_less() -> None:
    checks = [checked("a", 2.0), checked("b", 1.9)]
    spread = RespondentStability(np.array([0.5, 0.1]), np.array([0.1, 0.1]), 20)
    assert select_items(checks, spread, {}, wanted=1).kept == ("b",)


def test_items_that_fit_worse_are_worth_less_in_shares_of_the_error_allowed() -> None:
    checks = [checked("a", 2.0, error=0.09), checked("b", 1.5, error=0.02)]
    # Of an error of .1: 2 - .9 = 1.1 against 1.5 - .2 = 1.3; of .2: 2 - .45 = 1.55 against 1.5 - .1 = 1.4.
    assert select_items(checks, None, {}, wanted=1).kept == ("b",)
    assert select_items(checks, None, {}, wanted=1, most_error=0.2).kept == ("a",)
