"""What becomes of a slot, and which slots are audited."""

from __future__ import annotations

from typing import Any

import pytest
from tests.annotate.assist.cases import case

from affectlab.annotate.assist.routing import Audit, Case
from affectlab.errors import UserError


@pytest.mark.parametrize(
    ("made", "outcome", "label", "why"),
    [
        (case(), "model-agreed", "x", None),
        (case(("p", "q"), ("q", "p")), "model-agreed", ("p", "q"), None),
        (case(audited=True), "waiting", None, "audit"),
        (case(audited=True, human="x"), "people", "x", "audit"),
        (case(audited=True, human="y"), "people", "y", "audit"),
        (case(b=None), "waiting", None, "no label"),
        (case(None, None), "waiting", None, "no label"),
        (case(b="y"), "waiting", None, "disagreement"),
        # Forward a stands first, backward b does: 1 then 2 is a both times, 2 then 1 is b both times.
        (case(b="y", votes=(1, 2)), "adjudicated", "x", None),
        (case(b="y", votes=(2, 1)), "adjudicated", "y", None),
        (case(b="y", votes=(1, 1)), "waiting", None, "inconsistent"),
        (case(b="y", votes=(2, 2)), "waiting", None, "inconsistent"),
        (case(b="y", votes=(0, 0)), "waiting", None, "neither"),
        (case(b="y", votes=(0, 1)), "waiting", None, "inconsistent"),
        (case(b="y", votes=(1, None)), "waiting", None, "unread"),
        (case(b="y", votes=(1, 2), audited=True), "waiting", None, "audit"),
        (case(b="y", votes=(1, 2), audited=True, human="z"), "people", "z", "audit"),
        (case(b="y", votes=(1, 1), human="y"), "people", "y", "inconsistent"),
        # People's word counts even where nobody asked for it.
        (case(human="z"), "people", "z", None),
    ],
)
def test_where_a_slot_stands(made: Case, outcome: str, label: Any, why: str | None) -> None:
    assert (made.outcome, made.label, made.why_people) == (outcome, label, why)


@pytest.mark.parametrize(
    ("made", "wrong"),
    [
        (case(human="x"), False),
        (case(human="y"), True),
        (case(b="y", votes=(1, 2), human="y"), True),
        (case(b="y", votes=(1, 2), human="x"), False),
        (case(b="y", votes=(1, 1), human="x"), None),
        (case(), None),
    ],
)
def test_whether_people_changed_it(made: Case, wrong: bool | None) -> None:
    assert made.wrong is wrong


def test_the_audit_is_a_share_and_depends_on_nothing_but_the_slot() -> None:
    small, large = Audit(0.1, 3), Audit(0.3, 3)
    keys = [(f"i{n}", slot) for n in range(2000) for slot in "st"]
    drawn = {key for key in keys if small.drawn(*key)}
    # 4000 draws of 0.1: standard deviation 19.
    assert 320 < len(drawn) < 480
    assert drawn <= {key for key in keys if large.drawn(*key)}
    assert drawn != {key for key in keys if Audit(0.1, 4).drawn(*key)}
    assert any(small.drawn(f"i{n}", "s") != small.drawn(f"i{n}", "t") for n in range(2000))  # by slot, not by item
    assert not any(Audit(0.0).drawn(*key) for key in keys)
    assert all(Audit(1.0).drawn(*key) for key in keys)
    with pytest.raises(UserError, match="between 0 and 1"):
        Audit(1.5)
