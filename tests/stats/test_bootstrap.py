"""The pattern bootstrap against the naive one, its degenerate cases, and the coverage of its intervals."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from affectlab.errors import UserError
from affectlab.stats import bootstrap
from affectlab.stats.bootstrap import (
    Interval,
    bootstrap_statistic,
    bootstrap_totals,
    estimate,
    estimates,
    patterns,
    percentile_interval,
)
from affectlab.stats.measures import Measures, Over, Share, Statistic

K, G = 4, 8
ACCURACY = Share(np.array([1]), np.array([0, 1]))
rows = st.lists(st.tuples(st.integers(0, G - 1), st.integers(0, K - 1)), max_size=40)


def split(pairs: list[tuple[int, int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    both = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def measure(cluster: Any, event: Any, statistic: Statistic = ACCURACY, k: int = 2) -> Measures:
    codes = np.array(cluster, np.int32)
    names = tuple(map(str, range(int(codes.max(initial=-1)) + 1)))
    return Measures(codes, np.array(event, np.int32), names, k, {"figure": statistic}, {}, "figure")


@settings(deadline=None)
@given(rows)
def test_patterns_are_the_distinct_count_vectors(pairs: list[tuple[int, int]]) -> None:
    by_cluster = [[0] * K for _ in range(G)]
    for cluster, event in pairs:
        by_cluster[cluster][event] += 1
    expected = Counter(map(tuple, by_cluster))
    found = patterns(*split(pairs), K, G)
    assert found.totals is found.counts
    vectors = [tuple(vector) for vector in found.counts.toarray().astype(int).tolist()]
    assert dict(zip(vectors, found.multiplicity.tolist(), strict=True)) == expected
    assert len(set(vectors)) == len(vectors)


@settings(deadline=None)
@given(rows, st.randoms(use_true_random=False))
def test_row_order_and_cluster_numbers_do_not_matter(pairs: list[tuple[int, int]], random: Any) -> None:
    renumbered = list(range(20))
    random.shuffle(renumbered)
    other = [(renumbered[cluster], event) for cluster, event in pairs]
    random.shuffle(other)
    first, second = patterns(*split(pairs), K, 20), patterns(*split(other), K, 20)
    assert first.counts.toarray().tolist() == second.counts.toarray().tolist()
    assert first.multiplicity.tolist() == second.multiplicity.tolist()
    assert np.array_equal(bootstrap_totals(first, 20, 3), bootstrap_totals(second, 20, 3))


@settings(deadline=None)
@given(rows)
def test_every_replicate_draws_as_many_clusters_as_there_are(pairs: list[tuple[int, int]]) -> None:
    # One marker event for each cluster: its total in a replicate is the number of clusters drawn.
    cluster, event = split(pairs)
    marked = patterns(np.r_[cluster, np.arange(G)], np.r_[event, np.full(G, K)], K + 1, G)
    assert (bootstrap_totals(marked, 10, 0)[:, K] == G).all()


def test_the_same_seed_gives_the_same_bits_whatever_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    grouped = patterns(np.repeat(np.arange(50), 3), rng.integers(0, K, 150), K, 50)
    whole = bootstrap_totals(grouped, 33, 7)
    assert np.array_equal(whole, bootstrap_totals(grouped, 33, 7))
    assert not np.array_equal(whole, bootstrap_totals(grouped, 33, 8))
    monkeypatch.setattr(bootstrap, "_CELLS_AT_ONCE", 3 * len(grouped.multiplicity))
    assert np.array_equal(whole, bootstrap_totals(grouped, 33, 7))


def test_equals_the_naive_bootstrap_of_cluster_indices() -> None:
    cluster = np.array([0, 0, 1, 2, 2, 2, 3, 4, 4, 5])
    event = np.array([1, 0, 1, 0, 0, 1, 1, 1, 1, 0])
    replicates = 20_000
    ours = ACCURACY(bootstrap_totals(patterns(cluster, event, 2, 6), replicates, 1))
    rng = np.random.default_rng(2)
    naive = np.empty(replicates)
    for replicate in range(replicates):
        drawn = rng.integers(6, size=6)
        naive[replicate] = np.concatenate([event[cluster == one] for one in drawn]).mean()
    error = naive.std() / np.sqrt(replicates)
    assert ours.mean() == pytest.approx(naive.mean(), abs=5 * error)
    assert ours.std() == pytest.approx(naive.std(), rel=0.03)
    assert np.quantile(ours, [0.1, 0.5, 0.9]) == pytest.approx(np.quantile(naive, [0.1, 0.5, 0.9]), abs=0.03)


def test_standard_error_of_clustered_mean() -> None:
    # Ten answers in four clusters: mean .6; Liang-Zeger .116619 without the G / (G - 1) correction
    event = [1, 1, 0, 1, 0, 0, 1, 1, 1, 0]
    cluster = np.array([0, 0, 0, 1, 1, 1, 2, 2, 3, 3])
    totals = bootstrap_totals(patterns(cluster, np.array(event), 2, 4), 200_000, 0)
    # The linearised mean: residual sums by cluster over n. (The ratio itself is slightly wider with four
    # clusters.)
    linear = (totals[:, 1] - 0.6 * totals.sum(axis=1)) / 10
    assert linear.std() == pytest.approx(0.116619, rel=0.01)
    assert linear.std() * np.sqrt(4 / 3) == pytest.approx(0.134660, rel=0.01)


def test_generic_bootstrap_agrees_with_the_additive_one() -> None:
    rng = np.random.default_rng(4)
    cluster = rng.permutation(np.repeat(np.arange(30), rng.integers(1, 5, 30))[:60])
    event = rng.integers(0, 2, 60)
    additive = ACCURACY(bootstrap_totals(patterns(cluster, event, 2, 30), 4000, 0))
    generic = bootstrap_statistic(cluster, lambda index: float(event[index].mean()), 4000, 0)
    assert generic.mean() == pytest.approx(additive.mean(), abs=0.01)
    assert generic.std() == pytest.approx(additive.std(), rel=0.08)


def test_generic_bootstrap_keeps_clusters_whole() -> None:
    cluster = np.array([5, 9, 5, 9, 9])
    seen = set()

    def record(index: NDArray[np.intp]) -> float:
        counts = np.bincount(index, minlength=5)
        seen.add(tuple(counts.tolist()))
        return 0.0

    bootstrap_statistic(cluster, record, 50, 0)
    assert seen == {(1, 1, 1, 1, 1), (2, 0, 2, 0, 0), (0, 2, 0, 2, 2)}


def test_an_ordinary_figure() -> None:
    found = estimate(measure([0, 0, 1, 2, 2, 3], [1, 0, 1, 1, 0, 0]), "figure", Interval(0.9, 500, 3))
    assert found.value == pytest.approx(0.5)
    assert found.low is not None
    assert found.high is not None
    assert 0 <= found.low < 0.5 < found.high <= 1
    assert (found.n, found.clusters) == (6, 4)
    assert found.method == "cluster bootstrap, 500 replicates, seed 3, 90 %"
    assert found.reason == ""


def test_interval_holds_the_stated_share_of_replicates() -> None:
    replicates = np.arange(1001) / 1000
    found = percentile_interval("figure", 0.5, replicates, 10, 10, Interval(0.9))
    assert (found.low, found.high) == pytest.approx((0.05, 0.95))


def test_rests_only_on_the_events_it_looks_at() -> None:
    # Event 2 happens in cluster 3 alone, and accuracy does not look at it.
    found = estimate(measure([0, 1, 2, 2, 3], [1, 0, 1, 0, 2], k=3), "figure")
    assert (found.n, found.clusters) == (4, 3)


def test_all_figures_share_the_resamples() -> None:
    wrong = Over(np.array([0, 1]), lambda totals: totals[:, 0] / totals.sum(axis=1))
    base = measure([0, 0, 1, 2, 2, 3], [1, 0, 1, 1, 0, 0])
    both = Measures(base.cluster, base.event, base.clusters, 2, {"a": ACCURACY, "w": wrong}, {}, "a")
    found = estimates(both)
    assert list(found) == ["a", "w"]
    assert found["a"].low is not None
    assert found["w"].high == pytest.approx(1 - found["a"].low)
    assert list(estimates(both, ["w"])) == ["w"]


@pytest.mark.parametrize(("event", "low", "high"), [(1, 0.722467, 1.0), (0, 0.0, 0.277533)])
def test_all_right_or_all_wrong_gets_wilson_on_clusters(event: int, low: float, high: float) -> None:
    # Ten clusters of two answers: Wilson of 10 / 10 and 0 / 10, not of 20
    found = estimate(measure(np.repeat(np.arange(10), 2), [event] * 20), "figure")
    assert (found.low, found.high) == pytest.approx((low, high), abs=5e-7)
    assert (found.value, found.n, found.clusters) == (float(event), 20, 10)
    assert "Wilson" in found.method


def test_no_variation_in_another_statistic_has_no_interval() -> None:
    count = Over(np.array([1]), lambda totals: totals[:, 0] * 0 + 3.0)
    found = estimate(measure([0, 1], [1, 1], count), "figure")
    assert (found.value, found.low, found.high) == (3.0, None, None)
    assert "no variation" in found.reason


def test_one_cluster_has_no_interval() -> None:
    found = estimate(measure([0, 0, 0], [1, 0, 1]), "figure")
    assert found.value == pytest.approx(2 / 3)
    assert (found.low, found.high) == (None, None)
    assert "one cluster" in found.reason


def test_nothing_to_score_is_undefined() -> None:
    found = estimate(measure([], []), "figure")
    assert (found.value, found.low, found.n, found.clusters) == (None, None, 0, 0)
    assert found.reason == "nothing to score"


def test_undefined_replicates_are_left_out_and_counted() -> None:
    # Precision of a label answered in two of six clusters: without it in (4/6)^6 = 8.8 % of replicates
    answered = measure([0, 1, 2, 3, 4, 5], [1, 0, 2, 2, 2, 2], k=3)
    found = estimate(answered, "figure", Interval(replicates=2000))
    assert found.low is not None
    undefined = int(found.method.rpartition("undefined in ")[2].split()[0])
    assert undefined / 2000 == pytest.approx(0.088, abs=0.02)


def test_mostly_undefined_replicates_have_no_interval() -> None:
    replicates = np.array([np.nan] * 6 + [0.1, 0.2, 0.3, 0.4])
    found = percentile_interval("figure", 0.25, replicates, 9, 9, Interval(replicates=10))
    assert (found.value, found.low) == (0.25, None)
    assert found.reason == "undefined in 6 of 10 bootstrap replicates"


@pytest.mark.parametrize("bad", [{"level": 1.0}, {"level": 0.0}, {"level": 95}, {"replicates": 0}, {"seed": -1}])
def test_settings_out_of_range_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(UserError, match=str(next(iter(bad.values())))):
        Interval(**bad)


def test_coverage_of_the_clustered_interval() -> None:
    """Simulated studies of 60 clusters of 4 answers, correlated within clusters; true share .6.

    A nominal 95 % interval must hold the truth in about 95 % of 300 studies: between 90 and 98.5 % allows for
    both the simulation error (+-2.5 %) and the percentile interval's slight shortness. An interval that took
    answers as independent would be half as wide and hold it in some 75 %.
    """
    rng = np.random.default_rng(11)
    held = held_if_independent = 0
    for study in range(300):
        chance = rng.beta(0.9, 0.6, 60)
        event = rng.binomial(1, np.repeat(chance, 4))
        cluster = np.repeat(np.arange(60), 4)
        for codes in (cluster, np.arange(240)):
            found = estimate(measure(codes, event), "figure", Interval(replicates=300, seed=study))
            assert found.low is not None
            assert found.high is not None
            inside = found.low <= 0.6 <= found.high
            held += inside and codes is cluster
            held_if_independent += inside and codes is not cluster
    assert 0.90 <= held / 300 <= 0.985
    assert held_if_independent / 300 < 0.85
