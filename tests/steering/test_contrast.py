from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from affectlab.errors import UserError, WorldError
from affectlab.steering.contrast import (
    METHODS,
    Activations,
    Method,
    activations,
    directions,
    first_component,
    permuted,
    sinks,
)
from affectlab.steering.quality import fold_numbers, held_out_accuracy, quality, stability

EMOTIONS = ("anger", "fear", "joy", "sadness")
LAYERS, WIDTH, EACH = 3, 64, 30


def _planted(
    shift: float = 6.0, spread: float = 5.0, seed: int = 0, *, grouped: bool = False, topic: float = 0.0
) -> tuple[Activations, npt.NDArray[Any]]:
    """Clusters at ``shift × c_e`` with unit noise, ``spread`` times as large along one direction that all share."""
    draw = np.random.default_rng(seed)
    centres = np.linalg.qr(draw.standard_normal((WIDTH, len(EMOTIONS) + 1)))[0].T
    along, centres = centres[-1], centres[:-1]
    topics = draw.standard_normal((EACH, WIDTH)) * topic
    rows, labels, groups = [], [], []
    for number, emotion in enumerate(EMOTIONS):
        for text in range(EACH):
            noise = draw.standard_normal((LAYERS, WIDTH)) * 0.4
            noise += spread * 0.4 * draw.standard_normal((LAYERS, 1)) * along
            rows.append(shift * centres[number] + noise + topics[text])
            labels.append(emotion)
            groups.append(f"g{text}" if grouped else f"{emotion}{text}")
    return Activations(np.array(rows, dtype=np.float32), tuple(labels), tuple(groups)), centres


def _truth(centres: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Difference between each centre and the mean of the others, of norm 1."""
    total = centres.sum(axis=0)
    shift = centres - (total - centres) / (len(centres) - 1)
    return np.asarray(shift / np.linalg.norm(shift, axis=-1, keepdims=True))


@pytest.mark.parametrize("method", ["mean_difference", "pca"])
def test_planted_directions_are_found(method: Method) -> None:
    taken, centres = _planted()
    found = directions(taken, method)
    assert found.emotions == EMOTIONS
    assert found.unit.shape == (4, LAYERS, WIDTH)
    np.testing.assert_allclose(np.linalg.norm(found.unit, axis=-1), 1, atol=1e-5)
    cosines = np.einsum("elw,ew->el", found.unit, _truth(centres))
    assert cosines.min() > 0.95


def test_shuffled_labels_do_not_find_them() -> None:
    taken, centres = _planted()
    for seed in range(5):
        shuffled = permuted(taken, seed)
        assert sorted(shuffled.labels) == sorted(taken.labels)
        cosines = np.einsum("elw,ew->el", directions(shuffled, "mean_difference").unit, _truth(centres))
        # A wrong direction still lies among the centres (rank 3), so single cosines are not small; on average they are.
        assert cosines.mean() < 0.5
        assert held_out_accuracy(shuffled)[0].max() < 0.45


def test_row_4_a_wide_nuisance_direction() -> None:
    """ENGINE table, row 4: noise 5 times as large along one direction; only the literal component follows it."""
    taken, centres = _planted(shift=4.0)
    truth = _truth(centres)
    kept = directions(taken, "pca")
    literal = directions(taken, "pca_literal")
    assert np.einsum("elw,ew->el", kept.unit, truth).min() > 0.9
    assert literal.cosines.max() < 0.5
    warned = quality(taken, literal, "pca_literal", resamples=2).warnings
    assert len(warned) == 4
    assert "anger: cosine to the mean difference below 0.5 at 3 of 3 layers" in warned[0]
    assert quality(taken, kept, "pca", resamples=2).warnings == ()


def test_three_points_worked_by_hand() -> None:
    """Joy at (3, 1) and (3, −1), fear at (−1, 0) twice: centroids (3, 0) and (−1, 0), mean difference (4, 0).

    Contrast vectors of joy: (4, 1) and (4, −1). Their second moments are 2 × 16 along x and 2 × 1 along y, so ``pca``
    gives x; centred they are (0, 1) and (0, −1), so ``pca_literal`` gives y, whose cosine to the mean difference is 0.
    """
    hidden = np.array([[[3, 1]], [[3, -1]], [[-1, 0]], [[-1, 0]]], dtype=np.float32)
    taken = Activations(hidden, ("joy", "joy", "fear", "fear"), ("1", "2", "3", "4"))
    place = taken.emotions.index("joy")
    for method, unit, cosine in (("mean_difference", (1, 0), 1), ("pca", (1, 0), 1)):
        found = directions(taken, method)  # type: ignore[arg-type]
        np.testing.assert_allclose(found.unit[place, 0], unit, atol=1e-6)
        assert found.norms[place, 0] == pytest.approx(4)
        assert found.cosines[place, 0] == pytest.approx(cosine)
    joy_only = first_component(np.array([[[0.0, 1.0]], [[0.0, -1.0]]]))
    np.testing.assert_allclose(np.abs(joy_only[0]), (0, 1), atol=1e-12)


def test_what_a_group_shares_cancels() -> None:
    """Topics three times as large as the shift: pairs within groups do not see them, lone texts do."""
    grouped, centres = _planted(shift=2.0, spread=1.0, topic=1.0, grouped=True)
    lone = Activations(grouped.hidden, grouped.labels, tuple(map(str, range(len(grouped.labels)))))
    truth = _truth(centres)
    inside = np.einsum("elw,ew->el", directions(grouped, "pca").unit, truth).min()
    outside = np.einsum("elw,ew->el", directions(lone, "pca").unit, truth).min()
    assert inside > 0.9
    assert outside < inside - 0.2
    # With every group whole, the mean difference does not depend on groups.
    np.testing.assert_allclose(
        directions(grouped, "mean_difference").unit, directions(lone, "mean_difference").unit, atol=1e-5
    )


def test_case_212_the_sign_points_to_the_emotion() -> None:
    """Row 18: negated data give negated vectors, and the emotion's texts project higher than the others."""
    taken, _ = _planted()
    negated = Activations(-taken.hidden, taken.labels, taken.groups)
    for method in METHODS:
        found, other = directions(taken, method), directions(negated, method)
        np.testing.assert_allclose(found.unit, -other.unit, atol=1e-4)
        for number, emotion in enumerate(found.emotions):
            projected = np.einsum("tlw,lw->tl", taken.hidden, found.unit[number])
            mine = taken.of(emotion)
            assert (projected[mine].mean(axis=0) >= projected[~mine].mean(axis=0)).all()


@given(st.integers(0, 10_000), st.floats(0.01, 100))
def test_scale_does_not_turn_directions(seed: int, factor: float) -> None:
    draw = np.random.default_rng(seed)
    hidden = draw.standard_normal((12, 2, 5)).astype(np.float32)
    hidden[:6] += 2
    labels = ("joy",) * 6 + ("fear",) * 6
    groups = tuple(map(str, range(12)))
    one = directions(Activations(hidden, labels, groups), "mean_difference")
    other = directions(Activations((hidden * factor).astype(np.float32), labels, groups), "mean_difference")
    np.testing.assert_allclose(one.unit, other.unit, atol=1e-3)
    np.testing.assert_allclose(one.norms * factor, other.norms, rtol=1e-3)


def test_row_f1_texts_of_one_token_are_left_out_with_a_count() -> None:
    taken, _ = _planted()
    rows = np.concatenate([taken.hidden, np.full((1, LAYERS, WIDTH), 3000, np.float32)])
    labels, groups = (*taken.labels, "joy"), (*taken.groups, "short")
    lengths = [20] * len(taken.labels) + [1]
    found = activations(rows, labels, groups, lengths)
    assert found.left_out == {"one token": 1}
    assert len(found.labels) == len(taken.labels)
    without, with_it = directions(taken), directions(found)
    np.testing.assert_allclose(without.unit, with_it.unit, atol=1e-6)
    # Not known to be of one token, it is still known by its length.
    assert activations(rows, labels, groups).left_out == {"attention sink": 1}


def test_sinks_are_those_ten_times_the_median_at_any_layer() -> None:
    hidden = np.ones((5, 2, 4), np.float32)
    hidden[1, 1] = 9.9
    hidden[2, 0] = 10.1
    assert sinks(hidden).tolist() == [False, False, True, False, False]


def test_too_few_texts_and_states_that_are_no_numbers() -> None:
    hidden = np.ones((4, 1, 3), np.float32)
    with pytest.raises(UserError, match=r"fear\. Left out: 1 \(one token\)"):
        activations(hidden, ("joy", "joy", "fear", "fear"), "abcd", [5, 5, 5, 1])
    with pytest.raises(UserError, match="only one emotion"):
        activations(hidden, ("joy",) * 4, "abcd")
    hidden[2, 0, 1] = np.nan
    with pytest.raises(WorldError, match="texts 3 are not finite"):
        activations(hidden, ("joy", "joy", "fear", "fear"), "abcd")
    with pytest.raises(UserError, match="do not differ from the others at layer 0"):
        directions(Activations(np.ones((4, 1, 3), np.float32), ("joy", "joy", "fear", "fear"), tuple("abcd")))
    with pytest.raises(ValueError, match="expected"):
        Activations(np.ones((4, 3), np.float32), ("joy",) * 4, ("g",) * 4)


def test_labels_are_shuffled_within_mixed_groups_and_together_elsewhere() -> None:
    taken, _ = _planted(grouped=True)
    shuffled = permuted(taken, 3)
    for group in set(taken.groups):
        inside = [label for label, name in zip(shuffled.labels, taken.groups, strict=True) if name == group]
        assert sorted(inside) == sorted(EMOTIONS)
    assert shuffled.labels != taken.labels
    assert permuted(taken, 3).labels == shuffled.labels
    lone, _ = _planted()
    assert permuted(lone, 3).labels != lone.labels


def test_pairs_are_shuffled_within_themselves() -> None:
    """Groups of two labels: over 20 seeds some pair is turned round and some is not, and no pair is broken."""
    taken = Activations(np.zeros((8, 1, 2), np.float32), ("joy", "fear") * 4, tuple("aabbccdd"))
    drawn = [permuted(taken, seed).labels for seed in range(20)]
    pairs = {labels[start : start + 2] for labels in drawn for start in (0, 2, 4, 6)}
    assert pairs == {("joy", "fear"), ("fear", "joy")}


def test_folds_keep_groups_whole_and_emotions_even() -> None:
    grouped, lone = _planted(grouped=True)[0], _planted()[0]
    numbers = fold_numbers(grouped, 5, 0)
    assert all(len(set(numbers[np.array(grouped.groups) == group])) == 1 for group in set(grouped.groups))
    for taken in (grouped, lone):
        numbers = fold_numbers(taken, 5, 1)
        counts = [[int(((numbers == fold) & taken.of(emotion)).sum()) for emotion in EMOTIONS] for fold in range(5)]
        assert counts == [[6] * 4] * 5
    one = Activations(np.ones((4, 1, 2), np.float32), ("joy", "joy", "fear", "fear"), ("g",) * 4)
    with pytest.raises(UserError, match="one group"):
        fold_numbers(one, 5, 0)


def test_held_out_accuracy_by_hand() -> None:
    """Two groups, so two folds. Layer 0 separates; at layer 1 the second group's texts lie the other way round.

    There each fold is judged by the other's centroids and everything is wrong.
    """
    hidden = np.array([[[5], [5]], [[-5], [-5]], [[4], [-4]], [[-4], [4]]], dtype=np.float32)
    taken = Activations(hidden, ("joy", "fear", "joy", "fear"), ("a", "a", "b", "b"))
    accuracy, folds = held_out_accuracy(taken)
    assert folds == 2
    assert accuracy.tolist() == [1.0, 0.0]


def test_the_nearest_centroid_is_not_the_one_of_largest_product() -> None:
    """Held-out 1.2 lies nearer to joy at 2 than to fear at 0; without the half of |c|² fear would have it."""
    hidden = np.array([[[2]], [[0]], [[1.2]], [[0]]], dtype=np.float32)
    taken = Activations(hidden, ("joy", "fear", "joy", "fear"), ("a", "a", "b", "b"))
    assert held_out_accuracy(taken)[0].tolist() == [1.0]


def test_quality_of_planted_and_of_no_signal() -> None:
    taken, _ = _planted()
    good = quality(taken, directions(taken), resamples=5)
    assert good.accuracy.min() > 0.95
    assert good.folds == 5
    assert good.chance == pytest.approx(0.25)
    assert good.stability is not None
    assert good.stability.shape == (4, LAYERS)
    assert good.stability.min() > 0.95
    noise = Activations(
        np.random.default_rng(0).standard_normal(taken.hidden.shape).astype(np.float32), taken.labels, taken.groups
    )
    bad = quality(noise, directions(noise, "mean_difference"), "mean_difference", resamples=5)
    assert bad.accuracy.max() < 0.4
    assert bad.stability is not None
    assert bad.stability.mean() < good.stability.mean() - 0.15


def test_contrasts_are_not_lost_in_what_all_texts_share() -> None:
    """Beside 5000, half precision knows steps of 4 only; the shift of 1 along x is found all the same."""
    draw = np.random.default_rng(2)
    hidden = np.full((40, 1, 6), 5000, np.float32) + 0.1 * draw.standard_normal((40, 1, 6)).astype(np.float32)
    hidden[:20, 0, 0] += 1
    taken = Activations(hidden, ("joy",) * 20 + ("fear",) * 20, tuple(map(str, range(40))))
    for method in METHODS[:2]:
        found = directions(taken, method)
        joy = found.emotions.index("joy")
        assert found.unit[joy, 0, 0] > 0.99
        assert found.norms[joy, 0] == pytest.approx(1, abs=0.1)


def test_folds_are_drawn_by_seed() -> None:
    taken, _ = _planted(grouped=True)
    assert fold_numbers(taken, 5, 1).tolist() == fold_numbers(taken, 5, 1).tolist()
    assert len({tuple(fold_numbers(taken, 5, seed)) for seed in range(4)}) == 4


def test_chance_is_the_share_of_the_most_frequent_emotion() -> None:
    hidden = np.random.default_rng(0).standard_normal((10, 1, 3)).astype(np.float32)
    taken = Activations(hidden, ("joy",) * 5 + ("fear",) * 3 + ("anger",) * 2, tuple(map(str, range(10))))
    assert quality(taken, directions(taken), resamples=1).chance == 0.5


def _two_groups(a: tuple[float, float], b: tuple[float, float], groups: str) -> Activations:
    """Joy at two places, fear at the origin and far along a third number, where nothing tells them apart."""
    hidden = np.array([[[*a, 9.0]], [[*b, 9.0]], [[0, 0, 9.0]], [[0, 0, 9.0]]], dtype=np.float32)
    return Activations(hidden, ("joy", "joy", "fear", "fear"), tuple(groups))


@pytest.mark.parametrize("groups", ["abab", "abcd"])
def test_stability_by_hand(groups: str) -> None:
    """Joy lies along x in one text and along y in the other: together at 45 degrees.

    Of two drawn with replacement half are one of each (cosine 1), half the same twice (cosine √½): on average 0.854.
    Lone texts are drawn within their emotion, so that it is the same for them. Of 2000 resamples the standard error
    is 0.15 / √2000 = 0.003.
    """
    taken = _two_groups((1, 0), (0, 1), groups)
    found, reason = stability(taken, directions(taken, "mean_difference"), "mean_difference", 2000)
    assert found is not None
    assert reason == ""
    assert found[taken.emotions.index("joy"), 0] == pytest.approx(0.854, abs=0.012)


def test_a_resample_without_a_direction_counts_as_nought() -> None:
    """In group b the emotions do not differ. Drawn are aa, ab and ba (cosine 1), and bb (none): 3/4 on average, of 2000
    with a standard error of 0.01."""
    taken = _two_groups((1, 0), (0, 0), "abab")
    found, _ = stability(taken, directions(taken, "mean_difference"), "mean_difference", 2000)
    assert found is not None
    assert found[0, 0] == pytest.approx(0.75, abs=0.04)


def test_stability_depends_on_its_seed_alone() -> None:
    taken, _ = _planted()
    first, same, other = (stability(taken, directions(taken), "pca", 3, seed)[0] for seed in (0, 0, 1))
    assert first is not None
    assert other is not None
    np.testing.assert_array_equal(first, same)
    assert not np.array_equal(first, other)


def test_where_texts_cannot_be_resampled_stability_is_undefined_and_says_why() -> None:
    """With each emotion in one group every resample is the same. With anger in every group of a stratum, and each of 29
    others in one of them, 29! of 29^29 resamples (1 in 10^12) have them all: not looked for without end."""
    draw = np.random.default_rng(0)
    hidden = draw.standard_normal((8, 2, 5)).astype(np.float32)
    lumped = Activations(hidden, ("joy",) * 4 + ("fear",) * 4, ("a",) * 4 + ("b",) * 4)
    judged = quality(lumped, directions(lumped))
    assert judged.stability is None
    assert judged.warnings[-1] == (
        "Stability is undefined: each emotion's texts are in one group, so that every resample is the same."
    )
    assert any(warning.startswith("fear, joy: all texts are in one group") for warning in judged.warnings)
    assert "mean stability undefined" in repr(judged)
    labels, groups = zip(
        *[pair for n in range(29) for pair in (("anger", f"g{n}"), (f"e{n}", f"g{n}"), (f"e{n}", f"g{n}"))],
        strict=True,
    )
    rare = Activations(draw.standard_normal((87, 1, 4)).astype(np.float32), labels, groups)
    found, reason = stability(rare, directions(rare), "pca", 4)
    assert found is None
    assert reason == "of 200 resamples only 0 have all emotions"
