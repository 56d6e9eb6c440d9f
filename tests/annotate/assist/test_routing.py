"""What becomes of a slot, and the figures of the friction report worked by hand."""

from __future__ import annotations

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
    assert found.share.reason == "no audited label is model-agreed or adjudicated"
    assert friction([case(b=None)]).total.contamination.share.reason == "nothing is retained"
    # People's labels are the measure: where they gave all of them, nothing is contaminated.
    assert friction([case(audited=True, human="x")]).total.contamination.share.value == 0.0


def test_confused_labels_and_labels_with_friction() -> None:
    cases = [
        case("x", "y", (1, 1), "x", audited=True, item="1"),
        case("y", "x", (1, 2), "z", audited=True, item="2"),
        case("x", "w", item="3"),
    ]
    found = friction(cases)
    assert [(one.labels, one.times, one.neither) for one in found.confused] == [(("x", "y"), 2, 1), (("w", "x"), 1, 0)]
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


def test_the_report_is_plain_data() -> None:
    import json

    assert json.loads(json.dumps(friction(study()).to_dict(), allow_nan=False))["total"]["slots"] == 100
