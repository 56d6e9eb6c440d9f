"""Whose answers, to which items."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.audits.hunts import data, decided, line, scripted

from affectlab.audits.pools import asked_of, items_of, pools_of, respondents
from affectlab.benchmarks.base import Asking
from affectlab.errors import UserError
from affectlab.models.base import Model
from affectlab.runs import ScoredRun, read_run
from affectlab.stats.bootstrap import Interval


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return data(tmp_path / "d.jsonl", 4)


def always(path: Path, letter: str = "A") -> Model:
    return scripted(path, line("*", f"ANSWER: {letter}"))


def read(folder: Path, model: Model, file: Path, protocol: str = "choice", **asking: float) -> ScoredRun:
    made = decided(folder, model, file, protocol, asking=Asking(**asking))  # type: ignore[arg-type]
    return read_run(made, Interval(replicates=1))


def test_two_models_of_one_name_are_two_respondents(tmp_path: Path, file: Path) -> None:
    runs = [
        read(tmp_path / "r1", always(tmp_path / "m.jsonl"), file),
        read(tmp_path / "r2", always(tmp_path / "x" / "m.jsonl", "B"), file),
        read(tmp_path / "r3", always(tmp_path / "m3.jsonl"), file),
    ]
    names = respondents(runs)
    assert names == ["m", f"m ({tmp_path / 'r2'})", "m3"]
    (pool,), left_out = pools_of(runs, names, items_of(runs))
    assert len(pool.rows) == 12
    assert pool.categories == dict.fromkeys(("s00", "s01", "s02", "s03"), 2)
    # Letters turn over items: A is the hare (category 0) in the first and the stag in the second.
    assert [category for model, item, category in pool.rows if item == "s00"] == [0, 1, 0]
    assert not left_out


def test_several_runs_of_one_model_are_repeats_or_are_refused(tmp_path: Path, file: Path) -> None:
    model = always(tmp_path / "m.jsonl")
    plain = read(tmp_path / "r1", model, file)
    with pytest.raises(UserError, match=r"r1 and .*r2 are both runs of m, asked by choice and by cot\."):
        respondents([plain, read(tmp_path / "r2", model, file, "cot")])
    with pytest.raises(UserError, match="on the same items without sampling"):
        respondents([plain, read(tmp_path / "r3", model, file, seed=7)])
    warm = read(tmp_path / "r4", model, file, temperature=0.7)
    with pytest.raises(UserError, match=r"at temperatures 0 and 0\.7"):
        respondents([plain, warm])
    with pytest.raises(UserError, match="on the same items with the same seed"):
        respondents([warm, read(tmp_path / "r5", model, file, temperature=0.7)])
    assert respondents([warm, read(tmp_path / "r6", model, file, temperature=0.7, seed=1)]) == ["m", "m"]
    others = data(tmp_path / "p.jsonl", 3, role="prisoners_dilemma")
    assert respondents([plain, read(tmp_path / "r7", model, others)]) == ["m", "m"]


def test_answers_to_other_questions_under_one_id_are_refused(tmp_path: Path, file: Path) -> None:
    told = data(tmp_path / "e.jsonl", 4, options=("Hunt the hare alone", "Wait for the others at the stag"))
    runs = [
        read(tmp_path / "r1", always(tmp_path / "m1.jsonl"), file),
        read(tmp_path / "r2", always(tmp_path / "m2.jsonl"), told),
    ]
    with pytest.raises(UserError, match=r"Item s00 of .*r1 is another than item s00 of .*r2"):
        items_of(runs)


def test_a_role_without_enough_models_has_no_pool_and_says_so(tmp_path: Path, file: Path) -> None:
    run = read(tmp_path / "r1", always(tmp_path / "m.jsonl"), file)
    with pytest.raises(UserError, match="stag_hunt: 4 items answered by 1 models"):
        pools_of([run], ["m"], items_of([run]))


def test_an_item_whose_picture_moved_is_the_same_item(tmp_path: Path, file: Path) -> None:
    item = read(tmp_path / "r1", always(tmp_path / "m.jsonl"), file).plan.items[0]
    here, there, another = (
        replace(item, inputs={**item.inputs, "image": image}) for image in ("/a/dawn.png", "/b/dawn.png", "/a/dusk.png")
    )
    assert asked_of(here) == asked_of(there)
    assert asked_of(here) != asked_of(another)
    assert asked_of(here) != asked_of(item)
