"""What decides a score and is no item: kept in the folder, decisive when a run goes on, checked when it is scored."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from affectlab.benchmarks.base import Asking
from affectlab.benchmarks.emoscene.answers import SLOTS
from affectlab.errors import UserError, WorldError
from affectlab.metrics.bertscore import BertScorer, Overlap
from affectlab.models import open_model
from affectlab.runs import RunFolder, execute, make_plan, read_run, score_run
from affectlab.runs.outside import or_copies
from affectlab.runs.score import scores_to_dict
from affectlab.stats.bootstrap import Interval

QUICK = Interval(replicates=5)


def write_prior(path: Path, joy_and_trust: float) -> None:
    couplings = np.zeros((8, 8))
    couplings[0, 1] = couplings[1, 0] = joy_and_trust
    path.write_text(json.dumps({"labels": list(SLOTS), "h": [0.0] * 8, "J": couplings.tolist()}), encoding="utf-8")


def ask(folder: Path, prior: str, script: Path, limit: int = 5) -> None:
    plan = make_plan("emoscene", limit=limit, asking=Asking(options={"prior": prior} if prior else {}))
    execute(plan, open_model(f"scripted:{script}"), RunFolder.at(folder))


@pytest.fixture
def begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run with a prior that couples joy and trust, by a path that means something in one working directory only."""
    monkeypatch.chdir(tmp_path)
    write_prior(tmp_path / "prior.json", 6.0)
    lines = [{"item": "*", "logprobs": [-3.0] * 4 + [-1.0] * 4}]
    lines += [{"item": "*", "step": "joy", "logprobs": [-1.0] * 4 + [-2.0] * 4}]
    lines += [{"item": "*", "step": "trust", "logprobs": [-1.5] * 4 + [-1.2] * 4}]
    (tmp_path / "script.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    ask(tmp_path / "run", "prior.json", tmp_path / "script.jsonl")
    return tmp_path / "run"


def sheet(run: Path) -> str:
    return json.dumps(scores_to_dict(read_run(run, QUICK)))


def test_a_run_folder_is_scored_alike_whatever_becomes_of_the_prior_it_was_run_with(
    begun: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = sheet(begun)
    assert "joint:prior " in before
    write_prior(tmp_path / "prior.json", -6.0)
    assert sheet(begun) == before
    (tmp_path / "prior.json").unlink()
    monkeypatch.chdir("/")
    assert sheet(begun) == before
    score_run(begun, QUICK)
    assert json.loads((begun / "scores.json").read_text())["conditions"]


def test_another_prior_makes_other_figures_so_its_copy_is_checked(begun: Path) -> None:
    copy = begun / "settings" / "prior.json"
    write_prior(copy, -6.0)
    with pytest.raises(UserError, match="was run with another prior"):
        read_run(begun)
    copy.unlink()
    assert sheet(begun)  # the file it was copied from is still there, and still the same
    write_prior(Path("prior.json"), -6.0)
    with pytest.raises(UserError, match="was run with another prior"):
        read_run(begun)
    Path("prior.json").unlink()
    with pytest.raises(UserError, match="no such file"):
        read_run(begun)


def test_a_run_that_does_not_say_which_prior_it_had_is_refused(begun: Path) -> None:
    manifest = {name: value for name, value in RunFolder.at(begun).manifest().items() if name != "settings_sha256"}
    RunFolder.at(begun).write_manifest(manifest)
    with pytest.raises(UserError, match="has no record of what prior"):
        read_run(begun)


@pytest.mark.parametrize(
    ("prior", "said"),
    [
        ("prior.json", []),
        ("moved.json", ['  asking.options.prior: the folder has "prior.json", this command asks "moved.json"']),
        ("", ['  asking.options.prior: the folder has "prior.json", this command asks null']),
    ],
)
def test_going_on_with_such_a_run_is_refused_with_advice_that_can_be_followed(
    begun: Path, tmp_path: Path, prior: str, said: list[str]
) -> None:
    write_prior(tmp_path / "moved.json", 6.0)
    manifest = {name: value for name, value in RunFolder.at(begun).manifest().items() if name != "settings_sha256"}
    RunFolder.at(begun).write_manifest(manifest)
    with pytest.raises(UserError) as caught:
        ask(begun, prior, tmp_path / "script.jsonl")
    assert str(caught.value).splitlines()[1:] == [
        *said,
        "  prior: the folder has no record of what it was run with",
        "Run anew in another --out.",
    ]


def test_a_run_goes_on_with_the_same_prior_only_wherever_it_lies(begun: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.json"
    write_prior(elsewhere, 6.0)
    ask(begun, str(elsewhere), tmp_path / "script.jsonl")
    write_prior(elsewhere, -6.0)
    with pytest.raises(UserError, match=r"settings_sha256\.prior: the folder has"):
        ask(begun, str(elsewhere), tmp_path / "script.jsonl")
    with pytest.raises(UserError, match="belongs to another run") as caught:
        ask(begun, "", tmp_path / "script.jsonl")
    differences = [line for line in str(caught.value).splitlines() if line.startswith("  ")][:-1]
    assert differences == ['  asking.options.prior: the folder has "prior.json", this command asks null']


def test_a_folder_holds_one_copy_whatever_the_file_is_called_later(begun: Path, tmp_path: Path) -> None:
    """And it is mended by going on, when somebody spoilt it."""
    write_prior(tmp_path / "other.jsn", 6.0)
    copy = begun / "settings" / "prior.json"
    kept = copy.read_bytes()
    copy.write_text("spoilt", encoding="utf-8")
    ask(begun, "other.jsn", tmp_path / "script.jsonl")
    assert [path.name for path in copy.parent.iterdir()] == ["prior.json"]
    assert copy.read_bytes() == kept


def test_the_copy_of_a_file_that_is_gone_is_gone_on_with(begun: Path, tmp_path: Path) -> None:
    before, copy = sheet(begun), begun / "settings" / "prior.json"
    assert or_copies("emoscene", {"prior": "prior.json"}, begun) == {"prior": "prior.json"}
    Path("prior.json").unlink()
    settings = or_copies("emoscene", {"prior": "prior.json", "threshold": "0.5"}, begun)
    assert settings == {"prior": str(copy), "threshold": "0.5"}
    ask(begun, str(copy), tmp_path / "script.jsonl")
    assert sheet(begun) == before
    assert RunFolder.at(begun).manifest()["asking"]["options"] == {"prior": "prior.json"}
    for others in ({"prior": "another.json"}, {}):  # not what the folder was begun with
        assert or_copies("emoscene", others, begun) == others
    assert or_copies("emoscene", {"prior": "prior.json"}, tmp_path / "new") == {"prior": "prior.json"}
    write_prior(copy, -6.0)  # no longer the prior that it was run with
    with pytest.raises(UserError, match=r"settings_sha256\.prior: the folder has"):
        ask(begun, str(copy), tmp_path / "script.jsonl")


def test_demonstrations_are_kept_too(tmp_path: Path) -> None:
    demos = tmp_path / "demos.jsonl"
    bundled = files("affectlab.benchmarks.cue") / "demonstrations.jsonl"
    demos.write_bytes(bundled.read_bytes())
    plan = make_plan("cue", protocol="few_shot", limit=2, asking=Asking(options={"demos": str(demos)}))
    script = tmp_path / "script.jsonl"
    script.write_text('{"item": "*", "reply": "中性"}\n', encoding="utf-8")
    execute(plan, open_model(f"scripted:{script}"), RunFolder.at(tmp_path / "run"))
    before = sheet(tmp_path / "run")
    demos.unlink()
    assert sheet(tmp_path / "run") == before
    assert (tmp_path / "run" / "settings" / "demos.jsonl").read_bytes() == bundled.read_bytes()


def test_words_that_are_counted_in_replies_are_kept_too(tmp_path: Path) -> None:
    words = tmp_path / "words.toml"
    words.write_text('joy = ["glad"]\n', encoding="utf-8")
    plan = make_plan("decisions", protocol="cot", limit=1, asking=Asking(options={"lexicon": str(words)}))
    script = tmp_path / "script.jsonl"
    script.write_text('{"item": "*", "reply": "I would be glad. Answer: A"}\n', encoding="utf-8")
    execute(plan, open_model(f"scripted:{script}"), RunFolder.at(tmp_path / "run"))
    before = read_run(tmp_path / "run", QUICK).predictions
    assert any("joy" in str(row.detail) for row in before)
    words.write_text('anger = ["glad"]\n', encoding="utf-8")
    assert read_run(tmp_path / "run", QUICK).predictions == before


def test_a_killed_start_that_left_only_copies_is_begun_anew(begun: Path, tmp_path: Path) -> None:
    for name in ("manifest.json", "responses.jsonl", "failures.jsonl"):
        (begun / name).unlink(missing_ok=True)
    write_prior(tmp_path / "prior.json", -6.0)
    ask(begun, "prior.json", tmp_path / "script.jsonl")
    assert json.loads((begun / "settings" / "prior.json").read_text())["J"][0][1] == -6.0
    assert sheet(begun)


def test_an_encoder_is_told_apart_by_its_digest_and_may_be_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Encoder:
        signature, sha256 = "an encoder", "a" * 64

        def score(self, references: list[str], answers: list[str]) -> Overlap:
            return Overlap(np.ones(len(answers)), 0)

    encoder = Encoder()
    monkeypatch.setattr(BertScorer, "open", lambda spec: encoder)
    script = tmp_path / "script.jsonl"
    script.write_text('{"item": "*", "reply": "It was my own doing."}\n', encoding="utf-8")
    plan = make_plan("care", protocol="core", limit=2, asking=Asking(options={"bertscore": "x@1"}))
    execute(plan, open_model(f"scripted:{script}"), RunFolder.at(tmp_path / "run"))
    assert RunFolder.at(tmp_path / "run").manifest()["settings_sha256"] == {"bertscore": "a" * 64}
    assert '"BERTScore"' in sheet(tmp_path / "run")

    encoder.sha256 = "b" * 64
    with pytest.raises(UserError, match="was run with another bertscore"):
        read_run(tmp_path / "run")

    def gone(spec: str) -> None:
        raise UserError("not to be had")

    monkeypatch.setattr(BertScorer, "open", gone)
    assert "No BERTScore: not to be had" in sheet(tmp_path / "run")

    def failing(spec: str) -> None:
        raise WorldError("the hub does not answer")

    monkeypatch.setattr(BertScorer, "open", failing)
    assert "No BERTScore: the hub does not answer" in sheet(tmp_path / "run")
