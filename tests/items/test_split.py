from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affectlab.errors import UserError
from affectlab.items.split import leaks, split_groups, tie_duplicates

SHARES = {"train": 0.8, "dev": 0.1, "test": 0.1}


def test_records_of_their_own_are_split_exactly_by_label() -> None:
    labels = ["a"] * 100 + ["b"] * 50
    parts = split_groups([str(i) for i in range(150)], labels, SHARES)
    counts = {part: Counter(labels[index] for index in indices) for part, indices in parts.items()}
    # 80 %, 10 % and 10 % of 100 and of 50.
    assert counts == {"train": {"a": 80, "b": 40}, "dev": {"a": 10, "b": 5}, "test": {"a": 10, "b": 5}}


def test_a_group_larger_than_a_small_part_goes_to_the_large_one() -> None:
    groups = ["big"] * 15 + [str(i) for i in range(85)]
    parts = split_groups(groups, ["a"] * 100, SHARES)
    assert set(range(15)) <= set(parts["train"])
    assert {part: len(indices) for part, indices in parts.items()} == {"train": 80, "dev": 10, "test": 10}


def test_a_label_of_one_record_goes_to_the_largest_part() -> None:
    parts = split_groups([str(i) for i in range(31)], ["a"] * 30 + ["rare"], SHARES)
    assert 30 in parts["train"]


def test_the_seed_decides_and_nothing_else() -> None:
    groups, labels = [str(i) for i in range(60)], ["a", "b", "c"] * 20
    assert split_groups(groups, labels, SHARES, 1) == split_groups(groups, labels, SHARES, 1)
    assert split_groups(groups, labels, SHARES, 1) != split_groups(groups, labels, SHARES, 2)


@given(st.lists(st.tuples(st.sampled_from("pqrstuvw"), st.sampled_from("abc")), min_size=30, max_size=80))
def test_groups_stay_whole_and_every_record_is_in_one_part(records: list[tuple[str, str]]) -> None:
    groups, labels = [group for group, _ in records], [label for _, label in records]
    groups += [f"own {i}" for i in range(40)]
    labels += ["a", "b"] * 20
    parts = split_groups(groups, labels, {"train": 0.6, "test": 0.4})
    assert sorted(index for indices in parts.values() for index in indices) == list(range(len(groups)))
    held = [{groups[index] for index in indices} for indices in parts.values()]
    assert not held[0] & held[1]


@pytest.mark.parametrize(
    "shares", [{"train": 0.9}, {"train": 1.1, "test": -0.1}, {"train": 0.8, "test": 0.3}, {"train": 1.0, "test": 0.0}]
)
def test_shares_that_are_none_are_refused(shares: dict[str, float]) -> None:
    with pytest.raises(UserError, match="add up to 1"):
        split_groups(["1", "2"], ["a", "a"], shares)


def test_labels_too_rare_for_a_share_are_named() -> None:
    # Four labels of three records: 0.2 of 12 records is 2.4, but 0.2 of 3 is 0.6 of a record.
    labels = list("abcd") * 3
    with pytest.raises(UserError, match=r"Nothing is left for test: .*0\.2 of the most frequent of 4 labels \('a', 3"):
        split_groups([str(i) for i in range(12)], labels, {"train": 0.8, "test": 0.2})


def test_an_empty_part_is_refused() -> None:
    with pytest.raises(UserError, match=r"dev.*too few"):
        split_groups(["one"] * 9, ["a"] * 9, SHARES)


def test_near_duplicates_tie_their_groups_along_chains() -> None:
    texts = {
        "1": "the tram leaves the old square at nine every morning",
        "2": "The tram leaves the old square at nine every  morning",
        "3": "the tram leaves the old square at nine every morning!",
        "4": "nobody has seen the key since",
    }
    tied = tie_duplicates(texts, {"1": "p", "2": "q", "3": "r", "4": "s"})
    assert tied["1"] == tied["2"] == tied["3"]
    assert tied["4"] == "s"
    # A group that is tied through one record takes its other records with it.
    more = tie_duplicates(
        {**texts, "5": "something else altogether"}, {"1": "p", "2": "q", "3": "r", "4": "s", "5": "q"}
    )
    assert more["5"] == more["1"]


def test_leaks_name_the_parts_and_the_pair() -> None:
    parts = {"train": {"1": "Ok then."}, "dev": {"2": "Nothing"}, "test": {"3": "ok  then."}}
    ((one, other, pair),) = leaks(parts)
    assert (one, other, pair.a, pair.b, pair.kind) == ("train", "test", "1", "3", "normalised")
