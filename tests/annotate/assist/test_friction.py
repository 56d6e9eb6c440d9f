"""The figures of the friction report, worked by hand."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.annotate.assist.cases import case, slots, study

from affectlab.annotate.assist.friction import friction
from affectlab.annotate.assist.routing import OUTCOMES
from affectlab.stats.bootstrap import Interval

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
