"""Events with weights (squared errors, Brier scores) and clusters without events, through values, intervals and pairs.

The oracle is the naive bootstrap: draw indices of whole clusters, compute the figure from their rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from affectlab.metrics import multilabel
from affectlab.stats.bootstrap import Interval, bootstrap_totals, estimate, patterns
from affectlab.stats.measures import Measures, Over, Share, Statistic, Totals
from affectlab.stats.paired import paired_difference, permutation_totals

ANSWER, LOSS = 0, 1
"""One event per answer, and one that weighs its loss."""


def mean_loss(totals: Totals) -> NDArray[np.float64]:
    with np.errstate(invalid="ignore"):
        return np.asarray(totals[:, LOSS] / totals[:, ANSWER])


BRIER = Over(np.array([ANSWER, LOSS]), mean_loss, counted=np.array([ANSWER]))
RMSE = Over(np.array([ANSWER, LOSS]), lambda totals: np.sqrt(mean_loss(totals)), counted=np.array([ANSWER]))


def losses(
    loss: Sequence[float] | NDArray[np.float64], cluster: Sequence[int], statistic: Statistic = BRIER, clusters: int = 0
) -> Measures:
    n = len(loss)
    return Measures(
        cluster=np.r_[cluster, cluster].astype(np.int32),
        event=np.repeat([ANSWER, LOSS], n).astype(np.int32),
        clusters=tuple(f"s{code}" for code in range(clusters or max(cluster) + 1)),
        n_events=2,
        statistics={"figure": statistic},
        correct={},
        headline="figure",
        weight=np.r_[np.ones(n), loss],
    )


CLUSTER = [0, 0, 1, 2, 2]
# Ratings 4 6 2 5 7 answered 5 6 4 5 4: errors 1 0 2 0 -3.
SQUARED = [1.0, 0.0, 4.0, 0.0, 9.0]
# Right label's probability .9 .5 .8 .3 .6 of two: Brier score (one label's square) .01 .25 .04 .49 .16.
SCORES = [0.01, 0.25, 0.04, 0.49, 0.16]


def naive(loss: Sequence[float], cluster: Sequence[int], figure: Callable[[Any], float], n: int) -> NDArray[np.float64]:
    rng = np.random.default_rng(5)
    groups = [np.array(loss)[np.array(cluster) == code] for code in range(n)]
    return np.array([figure(np.concatenate([groups[i] for i in rng.integers(n, size=n)])) for _ in range(20_000)])


def test_rmse_by_hand() -> None:
    found = estimate(losses(SQUARED, CLUSTER, RMSE), "figure")
    assert found.value == pytest.approx(1.673320, abs=5e-7)  # sqrt(14 / 5)
    assert (found.n, found.clusters) == (5, 3)


def test_brier_by_hand() -> None:
    found = estimate(losses(SCORES, CLUSTER), "figure")
    assert found.value == pytest.approx(0.19)  # .95 / 5
    assert (found.n, found.clusters) == (5, 3)


def test_every_replicate_is_one_of_those_that_can_be_drawn() -> None:
    # Brier sums by scene .26 of 2, .04 of 1, .65 of 2; all 27 samples of three scenes, each as likely.
    scenes = [(0.26, 2), (0.04, 1), (0.65, 2)]
    possible = [sum(loss for loss, _ in s) / sum(n for _, n in s) for s in product(scenes, repeat=3)]
    measures = losses(SCORES, CLUSTER)
    grouped = patterns(measures.cluster, measures.event, 2, 3, measures.weight)
    drawn = BRIER(bootstrap_totals(grouped, 40_000, 0))
    values, share = np.unique(np.round(drawn, 9), return_counts=True)
    expected, times = np.unique(np.round(possible, 9), return_counts=True)
    assert values == pytest.approx(expected)
    assert share / 40_000 == pytest.approx(times / 27, abs=0.012)


@pytest.mark.parametrize(
    ("statistic", "figure"), [(BRIER, np.mean), (RMSE, lambda rows: np.sqrt(np.mean(rows)))], ids=["brier", "rmse"]
)
def test_equals_the_naive_bootstrap_of_cluster_indices(statistic: Statistic, figure: Callable[[Any], float]) -> None:
    rng = np.random.default_rng(8)
    cluster = np.repeat(np.arange(12), rng.integers(1, 5, 12)).tolist()
    loss = rng.exponential(1.0, len(cluster)).tolist()
    oracle = naive(loss, cluster, figure, 12)
    found = estimate(losses(loss, cluster, statistic), "figure", Interval(0.9, 20_000))
    assert found.value == pytest.approx(figure(loss))
    assert (found.low, found.high) == pytest.approx(np.quantile(oracle, [0.05, 0.95]), rel=0.02)


def test_paired_brier_by_hand() -> None:
    """Sums of a .04 .25 .09 .16, of b .01 .36 .49 .04 over four scenes of one answer: means .135 and .225.

    Differences .03 -.11 -.40 .12 sum to -.36. The 8 sign patterns up to sign have absolute sums .36 .60 .44 .20 .14 .38
    .66 .42, of which 6 reach .36: p = 3 / 4.
    """
    a, b = [0.04, 0.25, 0.09, 0.16], [0.01, 0.36, 0.49, 0.04]
    d = np.subtract(a, b)
    sums = np.array(list(product((1, -1), repeat=4))) @ d
    assert (np.abs(sums) >= 0.36 - 1e-12).mean() == 0.75
    found = paired_difference(losses(a, range(4)), losses(b, range(4)), how=Interval(replicates=40_000))
    assert (found.a, found.b) == pytest.approx((0.135, 0.225))
    assert found.difference.value == pytest.approx(-0.09)
    assert found.p == pytest.approx(0.75, abs=0.01)
    # Paired standard error: the differences' standard deviation over sqrt(4).
    assert found.se == pytest.approx(float(np.std(d, ddof=1)) / 2, rel=0.02)
    assert (found.difference.n, found.difference.clusters) == (4, 4)


def test_paired_rmse_by_enumeration() -> None:
    """RMSE is no mean over scenes: all 2^5 swaps, and the naive bootstrap of pairs."""
    cluster = [0, 0, 1, 2, 3, 3, 4]
    a, b = np.array([1.0, 4, 0, 9, 1, 1, 2]), np.array([4.0, 4, 1, 2.25, 9, 0, 6.25])
    observed = np.sqrt(a.mean()) - np.sqrt(b.mean())
    extreme = 0
    for swaps in product((False, True), repeat=5):
        swap = np.array(swaps)[cluster]
        difference = np.sqrt(np.where(swap, b, a).mean()) - np.sqrt(np.where(swap, a, b).mean())
        extreme += abs(difference) >= abs(observed) - 1e-12
    how = Interval(0.8, 40_000)
    found = paired_difference(losses(a, cluster, RMSE), losses(b, cluster, RMSE), how=how)
    assert found.difference.value == pytest.approx(observed)
    assert found.p == pytest.approx(extreme / 32, abs=0.012)
    rng = np.random.default_rng(1)
    rows = [np.flatnonzero(np.array(cluster) == code) for code in range(5)]
    draws = [np.concatenate([rows[i] for i in rng.integers(5, size=5)]) for _ in range(20_000)]
    oracle = [np.sqrt(a[drawn].mean()) - np.sqrt(b[drawn].mean()) for drawn in draws]
    assert (found.difference.low, found.difference.high) == pytest.approx(np.quantile(oracle, [0.1, 0.9]), abs=0.02)


def test_a_run_without_weights_is_paired_with_one_that_has_them() -> None:
    # The second run's losses are all 1, given as weights or left to be 1.
    plain = losses([1.0] * 5, CLUSTER)
    left = Measures(plain.cluster, plain.event, plain.clusters, 2, plain.statistics, {}, "figure")
    first = losses(SCORES, CLUSTER)
    assert paired_difference(first, left) == paired_difference(first, plain)
    assert paired_difference(left, first).difference.value == pytest.approx(0.81)


def test_a_run_against_itself_in_another_order_of_rows() -> None:
    rng = np.random.default_rng(0)
    cluster, loss = rng.integers(0, 30, 300), rng.exponential(1e6, 300)
    order = rng.permutation(300)
    first = losses(loss, [*cluster.tolist()], RMSE, 30)
    second = losses(loss[order], [*cluster[order].tolist()], RMSE, 30)
    assert first.totals().tolist() == second.totals().tolist()
    assert estimate(first, "figure") == estimate(second, "figure")
    found = paired_difference(first, second)
    assert (found.difference.value, found.difference.low, found.p) == (0.0, None, 1.0)


def test_rounding_is_judged_by_the_size_of_the_figures() -> None:
    # Every scene's loss is a tenth higher in b: nothing varies, whatever the last digits of a million do.
    loss = np.random.default_rng(3).exponential(1e6, 40)
    found = paired_difference(losses(loss + 0.1, range(40)), losses(loss, range(40)))
    assert found.difference.value == pytest.approx(0.1)
    assert found.difference.low is None
    assert "no variation" in found.difference.reason
    constant = estimate(losses([123456.789] * 7, [0, 0, 0, 1, 1, 2, 3]), "figure")
    assert constant.value == pytest.approx(123456.789)
    assert "no variation" in constant.reason


weighted = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 2), st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.7, 2.5])), max_size=30
)


@settings(deadline=None)
@given(weighted, st.randoms(use_true_random=False))
def test_patterns_are_the_distinct_totals_whatever_the_order(rows: list[tuple[int, int, float]], random: Any) -> None:
    def group(rows: list[tuple[int, int, float]]) -> Any:
        cluster, event, weight = np.array(rows).reshape(-1, 3).T
        return patterns(cluster.astype(int), event.astype(int), 3, 6, weight)

    found = group(rows)
    totals, counts = np.zeros((6, 3)), np.zeros((6, 3))
    for cluster, event, weight in rows:
        totals[cluster, event] += weight
        counts[cluster, event] += 1
    unrolled = np.repeat(np.hstack([found.totals.toarray(), found.counts.toarray()]), found.multiplicity, axis=0)
    expected = np.hstack([totals, counts])
    assert sorted(np.round(unrolled, 9).tolist()) == sorted(np.round(expected, 9).tolist())
    renumbered = list(range(6))
    random.shuffle(renumbered)
    other = [(renumbered[cluster], event, weight) for cluster, event, weight in rows]
    random.shuffle(other)
    again = group(other)
    for one, two in zip(found, again, strict=True):
        assert np.array_equal(
            one if isinstance(one, np.ndarray) else one.toarray(), two if isinstance(two, np.ndarray) else two.toarray()
        )


def test_clusters_that_are_exactly_alike_are_one_pattern() -> None:
    # In floating point .1 + .2 + .3 is not .3 + .2 + .1, but the first two clusters are alike; one event of .6 is not.
    cluster, weight = np.array([0, 0, 0, 1, 1, 1, 2]), np.array([0.1, 0.2, 0.3, 0.3, 0.2, 0.1, 0.6])
    found = patterns(cluster, np.zeros(7, np.int64), 1, 3, weight)
    events = found.counts.toarray()[:, 0].tolist()
    assert sorted(zip(events, found.multiplicity.tolist(), strict=True)) == [(1, 1), (3, 2)]


@settings(deadline=None, max_examples=30)
@given(weighted)
def test_weights_of_one_are_no_weights(rows: list[tuple[int, int, float]]) -> None:
    cluster, event, _ = np.array(rows).reshape(-1, 3).T.astype(int)
    plain = patterns(cluster, event, 3, 6)
    ones = patterns(cluster, event, 3, 6, np.ones(len(event)))
    assert plain.multiplicity.sum() == ones.multiplicity.sum() == 6
    for name in ("totals", "counts"):
        unrolled = [np.repeat(getattr(one, name).toarray(), one.multiplicity, axis=0).tolist() for one in (plain, ones)]
        assert sorted(unrolled[0]) == sorted(unrolled[1])


@settings(deadline=None, max_examples=30)
@given(weighted)
def test_swapping_keeps_the_sum_of_both_runs(rows: list[tuple[int, int, float]]) -> None:
    cluster, event, weight = np.array(rows).reshape(-1, 3).T
    event = np.r_[event, event + 3].astype(int)
    both = np.r_[weight, weight[::-1]]
    grouped = patterns(np.r_[cluster, cluster].astype(int), event, 6, 6, both)
    totals = permutation_totals(grouped, 15, 0)
    whole = np.bincount(event % 3, both, 3)
    assert totals[:, :3] + totals[:, 3:] == pytest.approx(np.tile(whole, (15, 1)))


def test_a_weight_of_nothing_is_an_event_all_the_same() -> None:
    # Only the loss is looked at, and two of three scenes have none to speak of.
    loss = Over(np.array([LOSS]), lambda totals: totals[:, 0] / 3)
    found = estimate(losses([0.0, 0.6, 0.0], range(3), loss), "figure")
    assert found.value == pytest.approx(0.2)
    assert (found.n, found.clusters) == (3, 3)


def test_a_share_of_weights() -> None:
    # Credit .5 of 1, 1 of 1, 0 of 3: 1.5 of 5; the rest of each weight is lost credit.
    share = Share(np.array([1]), np.array([0, 1]))
    event, weight = np.array([1, 0, 1, 0], np.int32), np.array([0.5, 0.5, 1.0, 3.0])
    cluster = np.array([0, 0, 1, 2], np.int32)
    measures = Measures(cluster, event, tuple("xyz"), 2, {"s": share}, {}, "s", weight)
    found = estimate(measures, "s")
    assert found.value == pytest.approx(0.3)
    assert (found.n, found.clusters) == (4, 3)
    assert paired_difference(measures, measures).difference.n == 4


def test_a_full_share_of_weights_is_no_more_than_all() -> None:
    share = Share(np.array([2, 1, 0]), np.array([0, 1, 2]))
    weight = np.array([0.1, 0.2, 0.3] * 7)  # .1 + .2 + .3 is not .3 + .2 + .1
    event = np.array([0, 1, 2] * 7, np.int32)
    cluster = np.repeat(np.arange(7, dtype=np.int32), 3)
    found = estimate(Measures(cluster, event, tuple("abcdefg"), 3, {"s": share}, {}, "s", weight), "s")
    assert (found.value, found.high) == (1.0, 1.0)
    assert "Wilson" in found.method


# Label sets of five items, gold and answer, over two labels: hit; empty and rightly so; miss; empty; false alarm.
GOLD = np.array([[1, 0], [0, 0], [0, 1], [0, 0], [1, 0]], bool)
ANSWERS = np.array([[1, 0], [0, 0], [0, 0], [0, 0], [1, 1]], bool)


def sets(answers: NDArray[np.bool_], *, every_cluster: bool = True) -> Measures:
    """Hits, false alarms and misses pooled over labels (0, 1, 2), and one event per set (3)."""
    outcomes = (GOLD & answers, ~GOLD & answers, GOLD & ~answers)
    pieces = [(np.nonzero(cells)[0], code) for code, cells in enumerate(outcomes)]
    pieces.append((np.arange(5), 3))
    f1 = Over(
        np.arange(3),
        lambda totals: multilabel.micro_f1(totals[:, None, :], np.nan),
        counted=np.array([3]),
        every_cluster=every_cluster,
    )
    return Measures(
        cluster=np.concatenate([cluster for cluster, _ in pieces]).astype(np.int32),
        event=np.concatenate([np.full(len(cluster), code) for cluster, code in pieces]).astype(np.int32),
        clusters=tuple("abcde"),
        n_events=4,
        statistics={"micro_f1": f1},
        correct={},
        headline="micro_f1",
    )


def test_empty_label_sets_are_clusters_and_n_is_the_sets() -> None:
    found = estimate(sets(ANSWERS), "micro_f1")
    assert found.value == pytest.approx(2 / 3)  # 2 hits, 1 false alarm, 1 miss: 4 / 6
    assert (found.n, found.clusters) == (5, 5)
    few = estimate(sets(ANSWERS, every_cluster=False), "micro_f1")
    assert (few.n, few.clusters) == (5, 3)
    assert (few.low, few.high) == (found.low, found.high)  # the resamples are the same
    paired = paired_difference(sets(ANSWERS), sets(GOLD))
    assert paired.difference.value == pytest.approx(-1 / 3)
    assert (paired.difference.n, paired.difference.clusters) == (5, 5)


def test_clusters_without_any_event_are_drawn_too() -> None:
    """Three answers in clusters 0 to 2 of six: a replicate misses all three in (1/2)^6 of draws, 1 in 64."""
    measures = losses(SCORES[:3], [0, 1, 2], clusters=6)
    grouped = patterns(measures.cluster, measures.event, 2, 6, measures.weight)
    assert grouped.multiplicity.sum() == 6
    totals = bootstrap_totals(grouped, 40_000, 0)
    # Answers drawn are binomial(6, 1/2), not always three.
    share = np.bincount(totals[:, ANSWER].astype(int), minlength=7) / 40_000
    assert share == pytest.approx(np.array([1, 6, 15, 20, 15, 6, 1]) / 64, abs=0.01)
    found = estimate(measures, "figure", Interval(replicates=2000))
    assert (found.n, found.clusters) == (3, 3)
    undefined = int(found.method.rpartition("undefined in ")[2].split()[0])
    assert undefined / 2000 == pytest.approx(1 / 64, abs=0.01)


def test_a_share_that_no_replicate_defines_has_no_interval() -> None:
    # Two answers in ten thousand clusters, and a single replicate that happens to draw neither (e^-2 of seeds).
    cluster, event = np.array([0, 1], np.int32), np.array([1, 1], np.int32)
    share = Share(np.array([1]), np.array([0, 1]))
    measures = Measures(cluster, event, tuple(map(str, range(10_000))), 2, {"s": share}, {}, "s")
    found = [estimate(measures, "s", Interval(replicates=1, seed=seed)) for seed in range(40)]
    reasons = {one.reason for one in found if one.low is None}
    assert reasons == {"undefined in 1 of 1 bootstrap replicates"}


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1.0, 2.0], "equally long"),
        ([1.0, np.nan, 1.0], "finite"),
        ([1.0, np.inf, 1.0], "finite"),
        ([1.0, -1.0, 1.0], "share 's' must not have negative weights"),
    ],
)
def test_bad_weights_are_refused(weight: list[float], message: str) -> None:
    codes = np.array([0, 1, 2], np.int32)
    share = Share(np.array([1]), np.array([0, 1]))
    with pytest.raises(ValueError, match=message):
        Measures(codes, codes, tuple("xyz"), 3, {"s": share}, {}, "s", np.array(weight))


def test_negative_weights_outside_shares() -> None:
    # Signed errors 1 -2 4: mean 1
    assert losses([1.0, -2.0, 4.0], range(3)).value("figure") == pytest.approx(1.0)
