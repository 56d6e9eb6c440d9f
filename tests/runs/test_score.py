from __future__ import annotations

from pathlib import Path

from tests.support.plans import scripted_file, tiny_plan

from affectlab.models import open_model
from affectlab.runs import execute, read_run
from affectlab.stats.bootstrap import Interval


def _notes(tmp_path: Path, scenes: int, wrong: int = 3) -> list[str]:
    ids = [f"s{n}" for n in range(scenes)]
    plan = tiny_plan(ids)
    script = scripted_file(tmp_path / f"{scenes}-{wrong}.jsonl", plan, dict.fromkeys(ids[:wrong], ("joy", "fear")))
    folder = tmp_path / f"run-{scenes}-{wrong}"
    execute(plan, open_model(f"scripted:{script}"), folder)
    notes = read_run(folder, Interval(replicates=50)).scores["neutral"].notes
    return [note for note in notes if note.startswith("Few independent units")]


def test_intervals_of_few_clusters_are_called_rough_once(tmp_path: Path) -> None:
    (note,) = _notes(tmp_path, 29)
    assert "resample 29 clusters" in note
    assert _notes(tmp_path, 30) == []


def test_where_there_is_no_interval_none_is_called_rough(tmp_path: Path) -> None:
    assert _notes(tmp_path, 1, wrong=0) == []
