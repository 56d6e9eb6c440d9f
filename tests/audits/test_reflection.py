"""Second turns: of which run, by which model, kept where."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tests.audits.hunts import data, decided, line, scripted

from affectlab.audits.reflection import STEP, audit_thoughts, compared
from affectlab.benchmarks.base import Asking
from affectlab.errors import UserError
from affectlab.models.base import Failure, Model, Request, Response
from affectlab.runs import ScoredRun, read_run
from affectlab.stats.bootstrap import Interval

CALM, FURIOUS = "I look at it calmly.\nANSWER: A", "I am furious, so I turn.\nANSWER: B"
QUICK = Interval(replicates=20)
MOVED = [f"s{n:02d}" for n in range(6)]


def angry(path: Path, second: str) -> Model:
    """Under anger it turns round on six hunts of twelve, in a telling thought; asked again it says ``second``."""
    told = [line(item, FURIOUS, condition="prompt:anger") for item in MOVED]
    again = [line(item, second, condition="prompt:anger", step=STEP) for item in MOVED]
    return scripted(path, line("*", CALM), line("*", CALM, step=STEP), *told, *again)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return data(tmp_path / "d.jsonl")


def reasoned(folder: Path, model: Model, file: Path) -> ScoredRun:
    return read_run(decided(folder, model, file, "cot", ["prompt:anger"]), QUICK)


def test_second_turns_of_one_run_are_never_those_of_another(tmp_path: Path, file: Path) -> None:
    repenting, stubborn = angry(tmp_path / "a.jsonl", CALM), angry(tmp_path / "b.jsonl", FURIOUS)
    first, other = (reasoned(tmp_path / name, model, file) for name, model in (("runA", repenting), ("runB", stubborn)))
    out = tmp_path / "audit"
    done = audit_thoughts(first, repenting, out)
    # Six of twelve decisions moved, and all six are taken back.
    result = compared(done.audited, done.before, "ndm", QUICK)
    assert (result.a, result.b) == (0.0, 0.5)
    kept = (out / "responses.jsonl").read_bytes()
    with pytest.raises(UserError, match="second turns of another run and another model"):
        audit_thoughts(other, stubborn, out)
    assert (out / "responses.jsonl").read_bytes() == kept
    alone = audit_thoughts(other, stubborn, tmp_path / "auditB")
    result = compared(alone.audited, alone.before, "ndm", QUICK)
    assert (result.a, result.b) == (0.5, 0.5)


def test_the_same_run_goes_on_in_its_folder_and_asks_nothing_twice(tmp_path: Path, file: Path) -> None:
    model = angry(tmp_path / "a.jsonl", CALM)
    run = reasoned(tmp_path / "run", model, file)
    out = tmp_path / "audit"
    told: list[tuple[str, int, int]] = []
    first = audit_thoughts(
        run, model, out, command="affectlab audit thoughts run", on_step=lambda *one: told.append(one)
    )
    manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["kind"] == "thought audit"
    assert manifest["sessions"][0]["command"] == "affectlab audit thoughts run"
    assert told[-1][0] == "Second turns"
    assert told[-1][1] == told[-1][2] == len(first.second)
    kept = (out / "responses.jsonl").read_bytes()
    again = audit_thoughts(run, model, out)
    assert again.second == first.second
    assert (out / "responses.jsonl").read_bytes() == kept
    assert len(json.loads((out / "manifest.json").read_text(encoding="utf-8"))["sessions"]) == 2


def test_in_which_order_conditions_are_named_makes_no_other_run(tmp_path: Path, file: Path) -> None:
    model = angry(tmp_path / "a.jsonl", CALM)
    run = reasoned(tmp_path / "run", model, file)
    first = audit_thoughts(run, model, tmp_path / "audit")
    turned = replace(run, manifest={**run.manifest, "conditions": run.manifest["conditions"][::-1]})
    assert audit_thoughts(turned, model, tmp_path / "audit").second == first.second


def test_another_model_than_the_runs_is_refused(tmp_path: Path, file: Path) -> None:
    run = reasoned(tmp_path / "run", angry(tmp_path / "a.jsonl", CALM), file)
    # Of the same name, but with other replies.
    other = angry(tmp_path / "x" / "a.jsonl", FURIOUS)
    with pytest.raises(UserError, match=r"is not the model of .*run: this is a \(file a\.jsonl, sha256"):
        audit_thoughts(run, other, tmp_path / "audit")
    assert not (tmp_path / "audit").exists()


def test_second_turns_never_go_into_a_run(tmp_path: Path, file: Path) -> None:
    model = angry(tmp_path / "a.jsonl", CALM)
    run = reasoned(tmp_path / "run", model, file)
    before = (tmp_path / "run" / "responses.jsonl").read_bytes()
    with pytest.raises(UserError, match="holds something else than second turns"):
        audit_thoughts(run, model, tmp_path / "run")
    assert (tmp_path / "run" / "responses.jsonl").read_bytes() == before
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(UserError, match=r"notes\.txt"):
        audit_thoughts(run, model, tmp_path / "full")


def test_another_temperature_is_another_run(tmp_path: Path, file: Path) -> None:
    model = angry(tmp_path / "a.jsonl", CALM)
    warm = decided(tmp_path / "warm", model, file, "cot", ["prompt:anger"], Asking(temperature=0.7))
    audit_thoughts(reasoned(tmp_path / "run", model, file), model, tmp_path / "audit")
    with pytest.raises(UserError, match="another run; choose"):
        audit_thoughts(read_run(warm, QUICK), model, tmp_path / "audit")


def test_both_halves_of_a_story_count_as_one_item(tmp_path: Path, file: Path) -> None:
    rows = [json.loads(row) for row in file.read_text(encoding="utf-8").splitlines()]
    for number, row in enumerate(rows):
        row["group"] = f"story {number // 2}"
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    model = angry(tmp_path / "a.jsonl", CALM)
    with pytest.raises(UserError, match="12 thoughts on 6 items"):
        audit_thoughts(reasoned(tmp_path / "run", model, file), model, tmp_path / "audit")


def test_another_prompt_is_another_audit(tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = angry(tmp_path / "a.jsonl", CALM)
    run = reasoned(tmp_path / "run", model, file)
    audit_thoughts(run, model, tmp_path / "audit")
    monkeypatch.setattr("affectlab.audits.reflection.REFLECTION", "Think again.")
    with pytest.raises(UserError, match="second turns of another prompt; choose"):
        audit_thoughts(run, model, tmp_path / "audit")


def test_second_turns_without_a_response_are_counted_recorded_and_asked_again(tmp_path: Path, file: Path) -> None:
    class Flaky:
        """Loses the first request of its first call."""

        def __init__(self, model: Model) -> None:
            self.card, self.abilities, self.lost, self._model = model.card, model.abilities, False, model

        def respond(self, requests: Sequence[Request]) -> Iterator[tuple[Request, Response | Failure]]:
            for request, answer in self._model.respond(requests):
                yield (request, answer) if self.lost else (request, Failure("gone", 1))
                self.lost = True

        def close(self) -> None:
            """Nothing is held."""

    model = angry(tmp_path / "a.jsonl", CALM)
    flaky = Flaky(model)
    run = reasoned(tmp_path / "run", model, file)
    first = audit_thoughts(run, flaky, tmp_path / "audit")
    assert first.failed == 1
    assert "gone" in (tmp_path / "audit" / "failures.jsonl").read_text(encoding="utf-8")
    again = audit_thoughts(run, flaky, tmp_path / "audit")
    assert again.failed == 0
    assert len(again.second) == len(first.second) + 1
