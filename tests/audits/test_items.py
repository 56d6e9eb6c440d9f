"""Item audits over runs, with fits that are quick because they are not made."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.audits.hunts import data, decided, line, scripted
from tests.audits.quick import fit_quickly

from affectlab.audits.items import ability_table, audit_items, family_table, item_table, notes, stability_table
from affectlab.benchmarks.base import Asking
from affectlab.errors import UserError


@pytest.fixture
def runs(tmp_path: Path) -> list[Path]:
    """Three models on four hunts: m0 and m1 always say A, m2 says B to the first two."""
    file = data(tmp_path / "d.jsonl", 4)
    other = [line(f"s{n:02d}", "ANSWER: B") for n in range(2)]
    return [
        decided(tmp_path / f"run{n}", scripted(tmp_path / f"m{n}.jsonl", line("*", "ANSWER: A"), *more), file)
        for n, more in enumerate(([], [], other))
    ]


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    fit_quickly(monkeypatch)


@pytest.mark.usefixtures("quick")
def test_models_are_respondents_twins_are_named_and_what_did_not_converge_is_said(runs: list[Path]) -> None:
    found = audit_items(runs, wanted=2)
    (family,) = found.families
    assert family.role == "stag_hunt"
    assert family.pool.counts.shape == (3, 4, 2)
    assert family.pool.duplicates == (("m0", "m1"),)
    assert "m1 answers exactly as m0 in 1 roles" in notes(found)[0]
    row = dict(zip(family_table([family]).columns, family_table([family]).rows[0], strict=True))
    assert (row["models"], row["pool"]) == (3, 4)
    assert "R-hat 1.050" in str(row["convergence"])
    moves = dict(zip(stability_table([family]).columns, stability_table([family]).rows[0], strict=True))
    # As the quick fit has it: .02 and .03 between seeds, a Monte Carlo error and a tenth of a posterior deviation.
    assert moves == {
        "role": "stag hunt", "max Δa": 0.02, "in MC errors": 1.0, "in SDs": 0.1, "max Δb": 0.03, "spread of a": 0.0,
        "spread of b": 0.0,
    }  # fmt: skip
    assert len(item_table([family]).rows) == 4
    assert [cell[0] for cell in ability_table([family]).rows] == ["m0", "m1", "m2"]


def test_fewer_than_three_models_are_refused_and_a_folder_counts_once(runs: list[Path]) -> None:
    with pytest.raises(UserError, match="2 models: a respondent is a model"):
        audit_items(runs[:2])
    with pytest.raises(UserError, match="named twice"):
        audit_items([*runs, runs[0]])


@pytest.mark.usefixtures("quick")
def test_every_stage_of_every_role_is_told(runs: list[Path]) -> None:
    told: list[tuple[str, int, int]] = []
    audit_items(runs, wanted=2, replicates=5, on_step=lambda *one: told.append(one))
    stages = ["screening", "5 samples of models", "confirming 2 items"]
    assert told == [(f"stag hunt (1 of 1): {stage}", done, 1) for stage in stages for done in (0, 1)]


@pytest.mark.usefixtures("quick")
def test_a_role_that_one_model_was_asked_is_left_out_and_the_others_stand(runs: list[Path], tmp_path: Path) -> None:
    file = tmp_path / "both.jsonl"
    dilemmas = data(tmp_path / "p.jsonl", 3, role="prisoners_dilemma").read_text(encoding="utf-8")
    file.write_text(f"{(tmp_path / 'd.jsonl').read_text(encoding='utf-8')}\n{dilemmas}", encoding="utf-8")
    wide = decided(tmp_path / "wide", scripted(tmp_path / "m3.jsonl", line("*", "ANSWER: A")), file)
    found = audit_items([*runs, wide], wanted=2)
    assert [one.role for one in found.families] == ["stag_hunt"]
    assert found.families[0].pool.respondents == ("m0", "m1", "m2", "m3")
    assert "prisoners dilemma is left out: 3 items answered by 1 models." in notes(found)


@pytest.mark.usefixtures("quick")
def test_content_is_the_occupation_and_where_it_is_all_alike_that_is_said(runs: list[Path], tmp_path: Path) -> None:
    assert any("All items of stag hunt are of one content" in note for note in notes(audit_items(runs, wanted=2)))
    rows = [json.loads(row) for row in (tmp_path / "d.jsonl").read_text(encoding="utf-8").splitlines()]
    for row, occupation in zip(rows, ("Guide", "guide", "guide", "baker"), strict=True):
        row["occupation"] = occupation
    file = tmp_path / "told.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    said = [scripted(tmp_path / f"m{n}.jsonl", line("*", "ANSWER: A")) for n in range(3)]
    found = audit_items([decided(tmp_path / f"told{n}", one, file) for n, one in enumerate(said)], wanted=2)
    # All are worth the same: ties go to the last name, a second guide would cost half a point.
    assert found.families[0].selected.coverage == {"baker": 1, "guide": 1}
    assert not found.alike


@pytest.mark.usefixtures("quick")
def test_what_is_counted_together_and_who_was_asked_otherwise_is_said(runs: list[Path], tmp_path: Path) -> None:
    file, warm = tmp_path / "d.jsonl", scripted(tmp_path / "warm.jsonl", line("*", "ANSWER: A"))
    draws = [
        decided(tmp_path / f"warm{seed}", warm, file, "cot", asking=Asking(temperature=0.7, seed=seed))
        for seed in range(2)
    ]
    found = audit_items([*runs, *draws], wanted=2)
    # Two draws of four answers of one respondent.
    assert found.families[0].pool.counts.sum(axis=(1, 2)).tolist() == [4, 4, 4, 8]
    assert "warm: 2 runs are counted together, as repeats." in notes(found)
    assert any("Models were asked in different ways (choice, cot)" in note for note in notes(found))
