"""Each check of a decision catches what it is for: bundled decisions with one thing changed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from affectlab.benchmarks.decisions import BENCHMARK
from affectlab.benchmarks.decisions.record import Decision
from affectlab.benchmarks.decisions.validate import tells, validate

ROWS = [json.loads(line) for line in BENCHMARK.sample.read_text(encoding="utf-8").splitlines()]
BY_ID = {row["id"]: row for row in ROWS}


@pytest.mark.parametrize(
    ("changed", "change", "code"),
    [
        ("prisoners-dilemma-01", {"payoffs": {"T": 600, "R": 900, "P": 300, "S": 100}}, "structure"),
        ("prisoners-dilemma-01", {"payoffs": {"T": 900, "R": 600, "P": 300}}, "structure"),
        ("prisoners-dilemma-01", {"payoffs": {"T": 950, "R": 600, "P": 300, "S": 100}}, "told"),
        ("escalation-01", {"payoffs": {**BY_ID["escalation-01"]["payoffs"], "own": 500}}, "structure"),
        ("ultimatum-responder-01", {"payoffs": {"pie": 5000, "offer": 6000}}, "structure"),
        ("trust-trustor-01", {"payoffs": {"endowment": 8, "multiplier": 3}}, "structure"),
        (
            "trust-trustor-01",
            {"options": [{"text": "Send few", "value": 0}, *BY_ID["trust-trustor-01"]["options"][1:]]},
            "option_numbers",
        ),
        (
            "stag-hunt-01",
            {"options": [{"text": "Sadly walk", "value": 0}, {"text": "Climb up", "value": 1}]},
            "emotion",
        ),
        (
            "stag-hunt-01",
            {"options": [{"text": "Defect", "value": 0}, {"text": "Climb", "value": 1}]},
            "game_words",
        ),
        (
            "stag-hunt-01",
            {"options": [{"text": "Walk", "value": 0}, {"text": "Climb up the north face", "value": 1}]},
            "balance",
        ),
        ("stag-hunt-01", {"scenario": "Two guides meet."}, "length"),
        ("stag-hunt-01", {"scenario": "Two guides meet. " * 20}, "address"),
    ],
)
def test_each_check_catches_what_it_is_for(changed: str, change: dict[str, Any], code: str) -> None:
    broken = Decision.model_validate(BY_ID[changed] | change)
    assert code in {violation.code for violation in validate(broken)}


@pytest.mark.parametrize(
    ("text", "number", "told"),
    [
        ("each lands 1,200 kilos", 1200, True),
        ("each lands 11,200 kilos", 1200, False),
        ("each lands 12 kilos.", 12, True),
        ("0.75 of it", 75, False),
        ("two thirds of the average", 0.666667, True),
        ("twice as much", 2, True),
        ("it leaves nothing", 0, True),
        ("3.5 million", 3.5, True),
        ("a tenth", 10, False),
    ],
)
def test_numbers_are_found_in_digits_and_words(text: str, number: float, told: bool) -> None:
    assert tells(text, number) is told
