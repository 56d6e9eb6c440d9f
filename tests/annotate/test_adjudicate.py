"""Which slots are settled, which wait, and what re-opens a decision."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affectlab.annotate.adjudicate import Made, Panel, Vote, basis, candidates, queue, settle, tally
from affectlab.annotate.design import Design
from affectlab.annotate.units import make_unit
from affectlab.annotate.values import Reply
from tests.annotate.support import STUDY, study

DESIGN = study(overlap=2)
MOOD = DESIGN.slot["mood"]


def panel(*values: dict[str, Any] | None, design: Design = DESIGN, **decisions: Made) -> Panel:
    """An item with one vote for each mapping; ``None`` is a skip."""
    votes = tuple(
        Vote(f"p{n}", Reply(skipped="unclear") if one is None else Reply(one)) for n, one in enumerate(values)
    )
    return Panel(make_unit(design, "i0", {"text": "Text."}), votes, design.overlap, decisions)


@pytest.mark.parametrize(
    ("values", "status", "gold"),
    [
        ([{"mood": "glad"}], "pending", None),
        ([{"mood": "glad"}, {"mood": "glad"}], "unanimous", "glad"),
        ([{"mood": "glad"}, {"mood": "sad"}], "disagree", None),
        ([{"mood": "glad"}, None], "single", None),
        ([None, None], "all_skipped", None),
        ([{}, {}], "absent", None),
    ],
)
def test_two_people(values: list[Any], status: str, gold: str | None) -> None:
    found = settle(DESIGN, MOOD, panel(*values))
    assert (found.status, found.value) == (status, gold)


@pytest.mark.parametrize(
    ("moods", "status"),
    [
        (["glad", "glad", "sad"], "majority"),
        (["glad", "sad", "calm"], "tie"),
        (["glad", "glad", "glad"], "unanimous"),
        (["glad", "glad", "sad", "sad"], "tie"),
        (["glad", "glad", "sad", "calm"], "disagree"),  # the most, and not more than half
    ],
)
def test_three_and_more_people_under_majority(moods: list[str], status: str) -> None:
    design = study(overlap=len(moods), adjudication={"majority": True})
    found = settle(design, design.slot["mood"], panel(*({"mood": one} for one in moods), design=design))
    assert found.status == status
    assert (found.value == "glad") == (status in {"majority", "unanimous"})


def test_a_majority_settles_nothing_where_the_design_does_not_say_so() -> None:
    design = study(overlap=3)
    found = settle(
        design, design.slot["mood"], panel({"mood": "glad"}, {"mood": "glad"}, {"mood": "sad"}, design=design)
    )
    assert found.status == "disagree"


@pytest.mark.parametrize(
    ("said", "status", "gold"),
    [({"mood": "glad"}, "alone", "glad"), (None, "all_skipped", None), ({}, "absent", None)],
)
def test_where_one_person_is_to_answer_the_answer_is_gold(said: Any, status: str, gold: str | None) -> None:
    design = study(overlap=1)
    found = settle(design, design.slot["mood"], panel(said, design=design))
    assert (found.status, found.value) == (status, gold)
    assert queue(design, [panel(said, design=design)]) == []


def test_only_the_slot_that_differs_is_queued() -> None:
    one = panel({"mood": "glad", "strength": 2, "why": "a"}, {"mood": "glad", "strength": 3, "why": "b"})
    assert [(slot.id, where.status) for _, slot, where in queue(DESIGN, [one])] == [("strength", "disagree")]
    assert {slot: dict(counts) for slot, counts in tally(DESIGN, [one]).items()} == {
        "mood": {"unanimous": 1},
        "strength": {"disagree": 1},
        "why": {"kept": 1},
    }


def made(one: Panel, value: Any, choice: str = "accept") -> Made:
    return Made(value, choice, "", basis(MOOD, one), "judge", 0.0)


def test_a_decision_holds_until_an_answer_to_its_slot_changes() -> None:
    before = panel({"mood": "glad", "strength": 1}, {"mood": "sad", "strength": 1})
    decision = made(before, "sad")
    after = panel({"mood": "glad", "strength": 5}, {"mood": "sad", "strength": 1}, mood=decision)
    assert settle(DESIGN, MOOD, after).value == "sad"  # another slot changed
    changed = settle(
        DESIGN, MOOD, panel({"mood": "calm", "strength": 1}, {"mood": "sad", "strength": 1}, mood=decision)
    )
    assert (changed.status, changed.value, changed.reopened) == ("disagree", None, True)


def test_no_gold_is_a_decision() -> None:
    before = panel({"mood": "glad"}, {"mood": "sad"})
    after = panel({"mood": "glad"}, {"mood": "sad"}, mood=made(before, None, "no_gold"))
    assert settle(DESIGN, MOOD, after).status == "no_gold"
    assert [slot.id for _, slot, _ in queue(DESIGN, [after])] == []


def test_what_is_derived_is_settled_with_what_makes_it_up() -> None:
    from affectlab.annotate.design_file import read_design

    cue = read_design("cue")
    unit = make_unit(cue, "i0", {"text": "行。"})
    said = [{"explicit": "neutral", "implicit": one, "stance": "x"} for one in ("negative", "negative", "neutral")]
    votes = tuple(Vote(f"p{n}", Reply(one)) for n, one in enumerate(said))
    found = settle(cue, cue.slot["stance"], Panel(unit, votes, 3, {}))
    # neutral by all, negative by two of three: together "veiled negative", resting on a majority.
    assert (found.status, found.value) == ("majority", "veiled_negative")


def test_candidates_come_in_an_order_that_says_nothing_of_people() -> None:
    orders = set()
    for seed in range(20):
        one, other = panel({"mood": "glad"}, {"mood": "sad"}), panel({"mood": "sad"}, {"mood": "glad"})
        assert candidates(MOOD, one, str(seed)) == candidates(MOOD, other, str(seed))
        orders.add(tuple(value for _, value in candidates(MOOD, one, str(seed))))
    assert len(orders) == 2


@given(st.lists(st.sampled_from(["glad", "sad", "calm", None]), min_size=2, max_size=6), st.randoms())
def test_who_gave_which_answer_does_not_matter(moods: list[str | None], random: Any) -> None:
    design = study(overlap=len(moods), adjudication={"majority": True})
    votes = [None if one is None else {"mood": one} for one in moods]
    before = settle(design, design.slot["mood"], panel(*votes, design=design))
    random.shuffle(votes)
    after = settle(design, design.slot["mood"], panel(*votes, design=design))
    assert (before.status, before.value) == (after.status, after.value)


DEEP = (
    STUDY
    + """
[[slots]]
id = "deep"
kind = "choice"
title = "How deep?"
options = [{ id = "x", names = "X" }, { id = "y", names = "Y" }]
when = { slot = "mood", equals = ["sad"] }
"""
)


class TestASlotAskedOnlyAfterSomeAnswers:
    def where(self, moods: list[str], gold: str | None = "", **changes: Any) -> tuple[str, Any]:
        """Where ``deep`` stands; those who said sad also said x. With the mood decided where ``gold`` is given."""
        design = study(DEEP, overlap=len(moods), **changes)
        said = [{"mood": mood} | ({"deep": "x"} if mood == "sad" else {}) for mood in moods]
        one = panel(*said, design=design)
        if gold != "":
            kind = "no_gold" if gold is None else "accept"
            decisions = {"mood": Made(gold, kind, "", basis(design.slot["mood"], one), "judge", 0.0)}
            one = Panel(one.unit, one.votes, one.wanted, decisions)
        found = settle(design, design.slot["deep"], one)
        return found.status, found.value

    def test_it_follows_the_gold_it_depends_on(self) -> None:
        assert self.where(["sad", "sad"]) == ("unanimous", "x")
        assert self.where(["glad", "glad"]) == ("absent", None)
        assert self.where(["sad", "sad", "glad"], "sad") == ("unanimous", "x")
        assert self.where(["sad", "sad", "glad"], "glad") == ("absent", None)
        assert self.where(["sad", "sad", "glad"], None) == ("absent", None)

    def test_it_is_pending_and_not_queued_while_that_is_open(self) -> None:
        assert self.where(["sad", "glad"]) == ("pending", None)
        design = study(DEEP)
        one = panel({"mood": "sad", "deep": "x"}, {"mood": "glad"}, design=design)
        assert [slot.id for _, slot, _ in queue(design, [one])] == ["mood"]
        assert self.where(["sad", "glad"], "sad") == ("single", None)

    def test_it_is_queued_where_gold_asks_it_of_nobody_who_was_asked(self) -> None:
        assert self.where(["glad", "calm"], "sad") == ("single", None)

    def test_a_decision_about_it_falls_with_the_gold_it_depends_on(self) -> None:
        design = study(DEEP)
        one = panel({"mood": "sad", "deep": "x"}, {"mood": "sad", "deep": "y"}, design=design)
        deep = Made("x", "accept", "", basis(design.slot["deep"], one), "judge", 0.0)
        assert settle(design, design.slot["deep"], Panel(one.unit, one.votes, 2, {"deep": deep})).value == "x"
        two = panel({"mood": "sad", "deep": "x"}, {"mood": "glad"}, design=design)
        mood = Made("glad", "accept", "", basis(design.slot["mood"], two), "judge", 0.0)
        deep = Made("x", "accept", "", basis(design.slot["deep"], two), "judge", 0.0)
        found = settle(design, design.slot["deep"], Panel(two.unit, two.votes, 2, {"mood": mood, "deep": deep}))
        assert (found.status, found.value) == ("absent", None)
