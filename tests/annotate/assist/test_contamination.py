"""Residual contamination: worked by hand, and how often its interval holds the truth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.annotate.assist.cases import case, slots, study

from affectlab.annotate.assist.contamination import residual_contamination
from affectlab.annotate.assist.friction import friction
from affectlab.stats.bootstrap import Interval


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
