"""What becomes of a slot, and the figures of the friction report worked by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from affectlab.annotate.assist.friction import friction, residual_contamination
from affectlab.annotate.assist.routing import OUTCOMES, Audit, Case, Votes
from affectlab.errors import UserError
from affectlab.stats.bootstrap import Interval


def case(
    a: Any = "x", b: Any = "x", votes: Any = None, human: Any = None, *, audited: bool = False, **rest: Any
) -> Case:
    known = {"item": "i", "slot": "s", "cluster": rest.get("item", "i"), "strata": {}, **rest}
    return Case(a=a, b=b, audited=audited, votes=None if votes is None else Votes(*votes), human=human, **known)


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


values = st.sampled_from(["x", "y", None])
votes = st.one_of(st.none(), st.tuples(st.sampled_from([0, 1, 2, None]), st.sampled_from([0, 1, 2, None])))


@settings(deadline=None, max_examples=25)
@given(st.lists(st.tuples(values, values, votes, values, st.booleans()), max_size=20))
def test_totals_add_up(rows: list[Any]) -> None:
    cases = []
    for n, (a, b, voted, human, audited) in enumerate(rows):
        differ = a is not None and b is not None and a != b
        cases.append(
            case(
                a,
                b,
                voted if differ else None,
                human,
                audited=audited,
                item=f"i{n}",
                slot="st"[n % 2],
                strata={"mode": "pq"[n % 3 > 0]},
            )
        )
    found = friction(cases, Interval(replicates=10))
    for groups in ([found.total], found.slots.values(), *(one.values() for one in found.strata.values())):
        assert sum(group.slots for group in groups) == len(cases)
        for name in OUTCOMES:
            assert sum(group.outcomes[name] for group in groups) == sum(one.outcome == name for one in cases)
        for group in groups:
            assert sum(group.outcomes.values()) == sum(group.labels.values()) == group.slots
            assert sum(group.waiting.values()) == group.outcomes["waiting"]
            assert sum(group.verdicts.values()) <= group.labels["differ"]
            assert group.contamination.retained == group.slots - group.outcomes["waiting"]


def study() -> list[Case]:
    """100 slots of 100 items.

    60 agreed: 20 of them audited, people changed 2. 40 differ: 10 audited, of which 6 accepted (people changed 3), 2
    turn with the order to the first place, 2 to the second; 30 unseen: 20 accepted, 6 turn to the first, 4 neither.
    """
    plan: list[tuple[int, dict[str, Any]]] = [
        (40, {}),
        (18, {"audited": True, "human": "x"}),
        (2, {"audited": True, "human": "y"}),
        (3, {"b": "y", "votes": (1, 2), "audited": True, "human": "x"}),
        (3, {"b": "y", "votes": (1, 2), "audited": True, "human": "z"}),
        (2, {"b": "y", "votes": (1, 1), "audited": True, "human": "x"}),
        (2, {"b": "y", "votes": (2, 2), "audited": True, "human": "y"}),
        (20, {"b": "y", "votes": (2, 1)}),
        (6, {"b": "y", "votes": (1, 1)}),
        (4, {"b": "y", "votes": (0, 0)}),
    ]
    made = [known for count, known in plan for _ in range(count)]
    return [case(item=f"i{n}", **known) for n, known in enumerate(made)]


def test_the_figures_of_a_study() -> None:
    total = friction(study()).total
    assert total.labels == {"agreed": 60, "differ": 40, "no label": 0}
    assert total.outcomes == {"model-agreed": 40, "adjudicated": 20, "people": 30, "waiting": 10}
    assert total.waiting == {"inconsistent": 6, "neither": 4}
    assert total.verdicts == {"accepted": 26, "inconsistent": 10, "neither": 4}
    assert total.disagreement.value == 0.4
    assert total.inconsistency.value == 10 / 40
    # Votes: 26 consistent pairs give 26 firsts of 52; 8 turn to the first: 16 of 16; 2 to the second: 0 of 4.
    assert [total.first_position.value, total.first_position.n] == pytest.approx([42 / 72, 72])
    # 8 against 2, exact: 2 · (1 + 10 + 45) / 1024.
    assert total.first_position_p == pytest.approx(0.109375)
    assert (total.override.value, total.override.n) == (0.1, 20)
    assert (total.adjudicator_error.value, total.adjudicator_error.n) == (0.5, 6)
    # Ten audited disagreements: 4 turn with the order, 3 of the consistent ones were changed.
    assert (total.problems.value, total.problems.n) == (0.7, 10)


def test_residual_contamination() -> None:
    # 40 agreed at 2/20 wrong and 20 adjudicated at 3/6 wrong, of 90 labels kept: (4 + 10) / 90.
    found = friction(study()).total.contamination
    assert [found.retained, found.expected] == pytest.approx([90, 14.0])
    assert found.share.value == pytest.approx(14 / 90)
    # Wilson, by its formula: 2 of 20 is [0.0279, 0.3010], 3 of 6 is [0.1876, 0.8124]; combined by Zou and Donner.
    below = np.hypot(40 / 90 * (0.1 - 0.02787), 20 / 90 * (0.5 - 0.18761))
    above = np.hypot(40 / 90 * (0.30103 - 0.1), 20 / 90 * (0.81239 - 0.5))
    assert found.share.low == pytest.approx(14 / 90 - below, abs=1e-4)
    assert found.share.high == pytest.approx(14 / 90 + above, abs=1e-4)


def test_the_interval_of_contamination_covers_the_truth() -> None:
    """120 studies in which a tenth of agreed and a third of adjudicated labels are wrong: close to 95 % hold that."""
    rng = np.random.default_rng(7)
    held = 0
    for _ in range(120):
        cases = []
        for n in range(300):
            differ, audited = rng.random() < 0.4, rng.random() < 0.3
            truth = "x" if rng.random() < (2 / 3 if differ else 0.9) else "z"
            known = {"b": "y", "votes": (1, 2)} if differ else {}
            cases.append(case(item=f"i{n}", audited=audited, human=truth if audited else None, **known))
        kept = [one for one in cases if not one.audited]
        true = sum(0.1 if one.agreed else 1 / 3 for one in kept) / len(cases)
        share = residual_contamination(cases, Interval(replicates=1)).share
        assert share.low is not None
        assert share.high is not None
        held += share.low <= true <= share.high
    assert held >= 110


def test_contamination_is_unknown_without_an_audit() -> None:
    cases = [case(item="i"), case(b="y", votes=(1, 2), item="j")]
    found = friction(cases).total.contamination
    assert (found.share.value, found.expected) == (None, None)
    assert found.share.reason == "no audited label of s (model-agreed), s (adjudicated)"
    assert friction([case(b=None)]).total.contamination.share.reason == "nothing is retained"
    # People's labels are the measure: where they gave all of them, nothing is contaminated.
    assert friction([case(audited=True, human="x")]).total.contamination.share.value == 0.0


def slots(name: str, unseen: int, audited: int, wrong: int, **rest: Any) -> list[Case]:
    """Labels both models agree on in one slot, and an audit in which people changed some."""
    seen = [case(item=f"{n}", slot=name, audited=True, human="z" if n < wrong else "x", **rest) for n in range(audited)]
    return [*seen, *(case(item=f"{name}{n}", slot=name) for n in range(unseen))]


def test_slots_with_different_error_rates_add_up() -> None:
    # s: 0 of 10 wrong, 90 unseen; t: 5 of 10 wrong, 10 unseen. 0 + 5 of the 120 labels kept.
    found = friction([*slots("s", 90, 10, 0), *slots("t", 10, 10, 5)])
    assert [one.contamination.expected for one in found.slots.values()] == [0.0, 5.0]
    assert found.total.contamination.expected == 5.0
    assert found.total.contamination.share.value == pytest.approx(5 / 120)


def test_the_total_is_unknown_where_one_slot_is() -> None:
    found = friction([*slots("s", 90, 10, 5), *slots("t", 90, 0, 0)])
    assert found.slots["s"].contamination.share.value == pytest.approx(45 / 100)
    assert found.total.contamination.share.value is None
    assert found.total.contamination.share.reason == "no audited label of t (model-agreed)"


def test_errors_in_two_slots_of_the_same_items_do_not_even_out() -> None:
    # Each slot: 2 of 10 wrong, 10 unseen, on the same items. Wilson of 2 in 10 by its formula: [0.0567, 0.5098].
    total = friction([*slots("s", 10, 10, 2), *slots("t", 10, 10, 2)]).total.contamination.share
    assert total.value == pytest.approx(0.1)
    # Weights are 10 of 40 each; with correlation 1 the ends add up: 0.1 - 2 * 0.25 * (0.2 - 0.0567), and so on.
    assert [total.low, total.high] == pytest.approx([0.1 - 0.5 * (0.2 - 0.0567), 0.1 + 0.5 * (0.5098 - 0.2)], abs=1e-4)
    other = [replace(one, cluster=f"other {one.cluster}") for one in slots("t", 10, 10, 2)]
    alone = friction([*slots("s", 10, 10, 2), *other]).total.contamination.share
    assert alone.low == pytest.approx(0.1 - np.hypot(0.25, 0.25) * (0.2 - 0.0567), abs=1e-4)


def test_slots_without_an_error_on_the_same_items_are_not_taken_for_independent() -> None:
    # Each slot: 0 of 10 wrong, 10 unseen. Wilson of 0 in 10: [0, 0.2775]. On the same items the ends add up.
    total = friction([*slots("s", 10, 10, 0), *slots("t", 10, 10, 0)]).total.contamination.share
    assert [total.low, total.high] == pytest.approx([0.0, 0.25 * 0.2775 * 2], abs=1e-4)
    other = [replace(one, cluster=f"other {one.cluster}") for one in slots("t", 10, 10, 0)]
    alone = friction([*slots("s", 10, 10, 0), *other]).total.contamination.share
    assert alone.high == pytest.approx(np.hypot(0.25, 0.25) * 0.2775, abs=1e-4)


def test_audits_that_people_are_split_on_are_counted() -> None:
    # 80 unseen; 10 audited and the same; 10 audited on which people differ: 0 of 10, or 10 of 20 if all were wrong.
    split = [case(item=f"split {n}", audited=True, split=True) for n in range(10)]
    found = friction([*slots("s", 80, 10, 0), *split]).total.contamination
    assert (found.drawn, found.split, found.share.value) == (20, 10, 0.0)
    assert found.worst == pytest.approx(0.5 * 80 / 90)


def test_only_audited_labels_make_error_rates() -> None:
    """People who look at what they like look where it is wrong: such labels say nothing of the others."""
    chosen = [case(item=f"chosen {n}", human="z") for n in range(10)]
    judged = [case(item=f"judged {n}", b="y", votes=(1, 2), human="z") for n in range(10)]
    total = friction([*slots("s", 80, 10, 1), *chosen, *judged]).total
    assert (total.override.value, total.override.n) == (0.1, 10)
    assert total.adjudicator_error.value is None
    assert total.problems.value is None
    assert total.contamination.expected == pytest.approx(8.0)  # a tenth of the 80 nobody saw


def test_neither_is_a_problem_where_people_took_a_candidate() -> None:
    for human, share in (("x", 1.0), ("y", 1.0), ("z", 0.0)):
        cases = [case(b="y", votes=(0, 0), human=human, audited=True, item=f"i{n}") for n in range(5)]
        assert friction(cases).total.problems.value == share


def test_an_interval_goes_by_the_cluster_each_event_is_of() -> None:
    # Ten items of one source, all changed by people; ten of another, none: sources drawn again give 0, 1/2 or 1.
    cases = [case(item=f"i{n}", cluster=f"c{n % 2}", human="xz"[n % 2], audited=True) for n in range(20)]
    found = friction(cases, Interval(replicates=400)).total.override
    assert (found.value, found.low, found.high, found.clusters) == (0.5, 0.0, 1.0, 2)


def test_items_without_a_stratum_are_a_stratum() -> None:
    found = friction([case(item="1", strata={"mode": "p"}), case(item="2"), case(item="3")])
    assert {name: group.slots for name, group in found.strata["mode"].items()} == {"p": 1, "(none)": 2}


def test_confused_labels_and_labels_with_friction() -> None:
    cases = [
        case("x", "y", (1, 1), "x", audited=True, item="1"),
        case("y", "x", (1, 2), "z", audited=True, item="2"),
        case("x", "w", item="3"),
        case("x", "y", item="3", slot="t"),
    ]
    found = friction(cases)
    assert [(one.slot, one.labels, one.times, one.neither) for one in found.confused] == [
        ("s", ("x", "y"), 2, 1),
        ("s", ("w", "x"), 1, 0),
        ("t", ("x", "y"), 1, 0),
    ]
    assert {name: group.problems.value for name, group in found.accepted.items()} == {"s: x": 1.0, "s: z": 1.0}


def test_slots_of_one_cluster_are_no_independent_trials() -> None:
    alone = [case(item=f"i{n}", audited=n % 2 == 0, human="x" if n % 2 == 0 else None) for n in range(40)]
    tied = [
        case(item=f"i{n}", cluster=f"c{n % 4}", audited=n % 2 == 0, human="x" if n % 2 == 0 else None)
        for n in range(40)
    ]
    wide, narrow = (friction(cases).total.contamination.share.high for cases in (tied, alone))
    assert wide is not None
    assert narrow is not None
    assert wide > narrow


def test_what_a_label_costs() -> None:
    # 90 of the 100 slots have a label; 270 + 90 seconds and 4.5 + 0 of money were spent.
    usage: dict[str, dict[str, Any]] = {
        "model-a": {"seconds": 270.0, "cost": 4.5},
        "model-b": {"seconds": 90.0, "cost": 0.0},
    }
    assert friction(study(), usage=usage).per_label == {"seconds": 4.0, "cost": pytest.approx(0.05)}
    unknown = {**usage, "adjudicator": {"seconds": 0.0, "cost": None}}
    assert friction(study(), usage=unknown).per_label == {"seconds": 4.0, "cost": None}
    assert friction([case(b=None)], usage=usage).per_label == {"seconds": None, "cost": None}
    assert friction(study()).per_label == {"seconds": None, "cost": None}


def test_the_report_is_plain_data() -> None:
    import json

    assert json.loads(json.dumps(friction(study()).to_dict(), allow_nan=False))["total"]["slots"] == 100
