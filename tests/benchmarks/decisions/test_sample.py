"""The bundled decisions: twelve a role, sound, distinct."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from affectlab.benchmarks.decisions import BENCHMARK
from affectlab.benchmarks.decisions.record import Decision
from affectlab.benchmarks.decisions.validate import validate
from affectlab.games import ROLES
from affectlab.items import near_duplicates

ROWS = [json.loads(line) for line in BENCHMARK.sample.read_text(encoding="utf-8").splitlines()]
DECISIONS = [Decision.model_validate(row) for row in ROWS]


def test_there_are_twelve_for_each_role_of_as_many_occupations() -> None:
    assert Counter(one.role for one in DECISIONS) == dict.fromkeys(ROLES, 12)
    assert len({one.occupation for one in DECISIONS}) == 108


def test_the_first_nine_show_every_role() -> None:
    assert {one.role for one in DECISIONS[:9]} == set(ROLES)


@pytest.mark.parametrize("decision", DECISIONS, ids=lambda one: one.id)
def test_each_is_sound(decision: Decision) -> None:
    assert validate(decision) == ()


def test_no_two_tell_the_same_story() -> None:
    assert near_duplicates({one.id: one.scenario for one in DECISIONS}, 0.4) == []


def test_both_sides_of_one_story_are_one_cluster() -> None:
    groups = Counter(one.group for one in DECISIONS if one.group)
    assert set(groups.values()) == {2}
