"""Item audits over runs, with fits that are quick because they are not made."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from affectlab.audits import items as module
from affectlab.audits.items import ability_table, audit_items, family_table, item_table, notes
from affectlab.errors import UserError
from affectlab.models import ModelSettings, open_model
from affectlab.runs import execute, make_plan
from affectlab.stats.irt import Fit, Gate, ItemCheck, Responses, Sampler
from affectlab.stats.irt.stability import RespondentStability, SeedStability

OPTIONS = [{"text": "Hunt the hare alone", "value": 0}, {"text": "Join the others at the stag", "value": 1}]


@pytest.fixture
def runs(tmp_path: Path) -> list[Path]:
    """Three models on four hunts: m0 and m1 always say A, m2 says B to the first two."""
    rows = [
        {"id": f"h{n}", "role": "stag_hunt", "scenario": f"Camp {n} sets out.", "options": OPTIONS} for n in range(4)
    ]
    data = tmp_path / "d.jsonl"
    data.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    folders = []
    for number in range(3):
        said = tmp_path / f"m{number}.jsonl"
        lines = [{"item": "*", "reply": "ANSWER: A"}]
        lines += [{"item": f"h{n}", "reply": "ANSWER: B"} for n in range(2)] if number == 2 else []
        said.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
        model = open_model(f"scripted:{said}", ModelSettings())
        folders.append(tmp_path / f"run{number}")
        execute(make_plan("decisions", data=str(data)), model, folders[-1])
    return folders


def made(responses: Responses, gate: Gate | None) -> Fit:
    n, k = len(responses.items), responses.counts.shape[2] - 1
    one, many = np.linspace(1, 2, n), np.zeros((n, k))
    theta = np.linspace(-1, 1, len(responses.respondents))
    expected = np.nan_to_num(responses.scores)
    return Fit(
        responses,
        one,
        one / 10,
        one / 100,
        many,
        many + 0.1,
        many + 0.01,
        theta,
        theta * 0 + 0.5,
        expected,
        gate,
        Sampler(),
    )


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    def seeds(responses: Responses, given: Sequence[int], sampler: Sampler | None) -> SeedStability:
        found = made(responses, Gate(1.05, 900, 900, 0))
        zero = np.zeros(len(responses.items))
        return SeedStability((found, found), zero + 0.02, zero + 0.03, zero + 1, zero + 1, zero + 0.1, zero + 0.1)

    monkeypatch.setattr(module, "screen", lambda responses, seed: made(responses, None))
    monkeypatch.setattr(module, "seed_stability", seeds)
    monkeypatch.setattr(
        module,
        "check_items",
        lambda fitted: tuple(
            ItemCheck(item, 1.0, 0.0, 0.02, 0.5, ordered=True, problems=()) for item in fitted.responses.items
        ),
    )
    monkeypatch.setattr(
        module,
        "respondent_stability",
        lambda responses, replicates, seed: RespondentStability(
            np.zeros(len(responses.items)), np.zeros(len(responses.items)), replicates
        ),
    )


@pytest.mark.usefixtures("quick")
def test_models_are_respondents_twins_are_named_and_what_did_not_converge_is_said(runs: list[Path]) -> None:
    (family,) = audit_items(runs, wanted=2)
    assert family.role == "stag_hunt"
    assert family.pool.counts.shape == (3, 4, 2)
    assert family.pool.duplicates == (("m0", "m1"),)
    assert "m1 answers exactly as m0 in 1 roles" in notes([family])[0]
    row = dict(zip(family_table([family]).columns, family_table([family]).rows[0], strict=True))
    assert (row["models"], row["pool"]) == (3, 4)
    assert "R-hat 1.050" in str(row["convergence"])
    assert len(item_table([family]).rows) == 4
    assert [cell[0] for cell in ability_table([family]).rows] == ["m0", "m1", "m2"]


def test_fewer_than_three_models_are_refused(runs: list[Path]) -> None:
    with pytest.raises(UserError, match="a respondent is a model"):
        audit_items([runs[0], runs[0]])
