"""``affectlab vectors`` as a user types it, on a tiny random model."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import Ended

pytest.importorskip("torch", reason="local models need torch")
pytest.importorskip("transformers", reason="local models need transformers")

from tests.support import tiny_models

Cli = Callable[..., Ended]
FAST = ("--threads", "1", "--device", "cpu")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_models.save(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("texts") / "texts.jsonl"
    rows = [
        {"sentence": f"{start} {end}", "label": label}
        for label, start in (("joy", "Ada feels joy"), ("fear", "Ben feels fear"), ("pride", "A B"))
        for end in ("about the news", "about Ada", "1 2", "Answer: C")
    ]
    path.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    return path


@pytest.fixture
def file(cli: Cli, folder: Path, texts: Path, tmp_path: Path) -> Path:
    out = tmp_path / "tiny.safetensors"
    mapped = ("--map", "text=sentence", "--map", "emotion=label", "--emotions", "happiness,fear")
    ended = cli("vectors", "extract", "--model", folder, "--out", out, "--stimuli", texts, *mapped, *FAST, "--json")
    assert ended.code == 0, ended.err
    assert ended.json["emotions"] == ["fear", "joy"]
    assert ended.json["provenance"]["left_out"] == {"pride": 4}
    assert ended.json["layers"] == [0, 1]
    assert ended.json["activations"] is True
    return out


def test_show_describes_a_file_and_explains_conditions(cli: Cli, file: Path) -> None:
    shown = cli("vectors", "show", file)
    assert shown.code == 0
    assert "fear, joy" in shown.out
    explained = cli("vectors", "show", file, "--condition", "joy@0.5:layers=1", "--condition", "permuted:fear@1.0")
    assert "add 0.5 × its direction to the output of layer 1 of 2 (model.layers.1)" in explained.out
    assert "permuted:fear (pca, seed 0)" in explained.out
    wrong = cli("vectors", "show", file, "--condition", "pride@1.0")
    assert (wrong.code, wrong.out) == (2, "")
    assert "There are: fear, joy" in wrong.err


def test_show_measures_on_the_model(cli: Cli, file: Path, folder: Path) -> None:
    conditions = ("--condition", "joy@0.05:kl:layers=all", "--condition", "fear@500.0")
    unmeasured = cli("vectors", "show", file, *conditions)
    assert (unmeasured.code, unmeasured.out) == (2, "")
    assert "On the command line: --model" in unmeasured.err
    shown = cli("vectors", "show", file, *conditions, "--model", folder, *FAST)
    assert shown.code == 0, shown.err
    assert " × the median token norm." in shown.out
    dosed, _ = (line for line in shown.out.splitlines() if "Plain text: KL" in line)
    assert re.search(r"KL 0\.0(49|50|51) ± 0\.\d+, negative log-likelihood [+-]0\.\d+ ± 0\.\d+ nats a token\.$", dosed)
    document = cli("vectors", "show", file, *conditions, "--model", folder, *FAST, "--json")
    assert document.err == ""
    dosed, _ = document.json["conditions"]
    assert dosed["plain_text"]["kl"] == pytest.approx(0.05, rel=0.03)
    assert list(dosed["doses"]) == ["joy@0.05:kl:layers=all"]
    assert dosed["plain_text"]["damaged"] is False
    idle = cli("vectors", "show", file, "--model", folder)
    assert (idle.code, "--model measures conditions" in idle.err) == (2, True)


def test_damage_and_what_is_not_known_are_said() -> None:
    from affectlab.cli.vectors_output import explained, explained_to_dict
    from affectlab.steering import Applier
    from affectlab.steering.coherence import Coherence

    neutral = Applier(None)("neutral")
    said = explained(neutral, Coherence(1.5, 0.25, 0.125, 0.5)).splitlines()[-1]
    assert said == ("  Plain text: KL 1.500 ± 0.125, negative log-likelihood +0.250 ± 0.500 nats a token: damaged.")
    alone = explained(neutral, Coherence(0.5, -0.25)).splitlines()[-1]
    assert alone == "  Plain text: KL 0.500, negative log-likelihood -0.250 nats a token."
    assert explained(neutral, None) == neutral.explain()
    assert explained_to_dict(neutral, Coherence(1.5, 0.25))["plain_text"]["damaged"] is True


def test_what_is_no_file_is_refused_before_a_model_is_opened(cli: Cli, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    ended = cli("vectors", "extract", "--model", tmp_path / "none", "--out", pipe)
    assert ended.code == 2
    assert "pipe is no regular file" in ended.err
    assert pipe.is_fifo()


def test_vectors_in_half_precision_say_so(cli: Cli, folder: Path, texts: Path, tmp_path: Path) -> None:
    out = tmp_path / "half.safetensors"
    mapped = ("--map", "text=sentence", "--map", "emotion=label", "--emotions", "joy,fear", "--dtype", "bfloat16")
    ended = cli("vectors", "extract", "--model", folder, "--out", out, "--stimuli", texts, *mapped, *FAST)
    assert ended.code == 0, ended.err
    # 2 emotions, 10 questions: 3 kinds of 19 controls; 2 layers, the paper's 8 strengths.
    assert "--sweep-layers none\n1,140 of its prompts are for control vectors" in ended.out
    assert "which is 320 prompts more" in ended.out
    shown = cli("vectors", "show", out)
    assert "; bfloat16; " in shown.out
    assert "states at: last, in bfloat16; 4 left out (pride)." in " ".join(shown.out.split())
    assert cli("vectors", "show", out, "--json").json["provenance"]["dtype"] == "bfloat16"


def test_validate_prints_writes_and_suggests(cli: Cli, file: Path, folder: Path, tmp_path: Path) -> None:
    few = ("--strengths", "0.1,0.2", "--compared", "0.1", "--controls", "2", "--sweep-strengths", "1,4", *FAST)
    page, figure = tmp_path / "page.html", tmp_path / "heat.svg"
    ended = cli("vectors", "validate", file, "--model", folder, *few, "--html", page, "--figure", figure, "--json")
    assert ended.code == 0, ended.err
    tables = {table["id"]: table for table in ended.json["tables"]}
    assert list(tables) == ["self_report", "controls", "plain_text", "by_strength", "positive_margin", "by_layer"]
    controls = ended.json["controls"]
    assert list(controls) == ["random", "kl-random", "permuted"]
    assert all(list(values) == ["fear", "joy"] for values in controls.values())
    # kind, emotion, change, mean, s.d., largest
    sizes = {tuple(row[:2]): row[3:] for row in tables["controls"]["rows"]}
    joy = controls["random"]["joy"]
    assert sizes["isotropic, same norm", "joy"] == pytest.approx(
        [sum(joy) / 2, abs(joy[0] - joy[1]) / 2**0.5, max(joy)]
    )
    assert [row[0] for row in tables["self_report"]["rows"]] == ["fear", "joy", "all"]
    assert "<svg" in figure.read_text("utf-8")
    assert "does steering steer?" in page.read_text("utf-8")
    ended = cli(
        "vectors", "validate", file, "--model", folder, *few, "--controls", "0", "--sweep-layers", "0-1", "--write"
    )
    assert ended.code == 0, ended.err
    assert "Not compared with controls" in ended.out
    suggested = json.loads(cli("vectors", "show", file, "--json").out)["provenance"]["suggested_layers"]
    said = " ".join(ended.out.split())
    if suggested == [0, 1]:
        assert f"Layers 0-1 are in {file} now, where layers=best finds them. No others were swept" in said
    else:
        assert suggested or f"No layer can be suggested; {file} is left as it was." in said


def test_what_was_measured_is_printed_whatever_becomes_of_page_and_figure(
    cli: Cli, file: Path, folder: Path, tmp_path: Path
) -> None:
    few = ("--strengths", "0.1,0.1", "--controls", "0", "--sweep-layers", "1", "--sweep-strengths", "4", *FAST)
    # 254 letters are a name, and leave none for that of the file beside it.
    page, figure = tmp_path / f"{'x' * 249}.html", tmp_path / "heat.SVG"
    ended = cli("vectors", "validate", file, "--model", folder, *few, "--html", page, "--figure", figure)
    assert ended.code == 1
    assert "Self-report, layers middle, 0.1 × median token norm" in ended.out
    assert f"Figure: {figure}" in ended.out
    assert "<svg" in figure.read_text("utf-8")
    said = " ".join(ended.err.split())
    assert "could not be written (File name too long). What was measured is printed in full." in said
    assert not page.exists()
    # The same strength twice is one.
    document = cli("vectors", "validate", file, "--model", folder, *few, "--json").json
    assert [row[0] for row in next(one for one in document["tables"] if one["id"] == "by_strength")["rows"]] == ["0.1"]


def test_a_page_says_what_was_validated(cli: Cli, file: Path, folder: Path, tmp_path: Path) -> None:
    few = ("--strengths", "0.1", "--controls", "0", "--sweep-layers", "none", *FAST)
    page = tmp_path / "page.html"
    ended = cli("vectors", "validate", file, "--model", folder, *few, "--html", page)
    assert ended.code == 0, ended.err
    assert f"Page: {page}" in ended.out
    made = cli("vectors", "validate", file, "--model", folder, *few, "--json").json["made"]
    held = cli("vectors", "show", file, "--json").json
    assert made["model"]["model"] == held["model"]["model"]
    assert made["vectors"]["stimuli_sha256"] == held["provenance"]["stimuli_sha256"]
    assert made["versions"]["affectlab"]
    shown = page.read_text("utf-8")
    for name in ("model", "tokenizer", "dtype"):
        assert made["model"][name] in shown
    for name in ("sha256", "method", "token_rule", "stimuli_sha256"):
        assert made["vectors"][name] in shown
    assert "How this was made" in shown


def test_export_writes_what_llama_cpp_reads(cli: Cli, file: Path, tmp_path: Path) -> None:
    import gguf

    out = tmp_path / "joy.gguf"
    ended = cli("vectors", "export", file, "--emotion", "happiness", "--out", out)
    assert ended.code == 0, ended.err
    assert "1 layers of joy" in ended.out
    assert [tensor.name for tensor in gguf.GGUFReader(out).tensors] == ["direction.1"]


def test_another_model_is_refused(cli: Cli, file: Path, tmp_path: Path) -> None:
    other = tiny_models.save(tmp_path / "other", template=None)
    ended = cli("vectors", "validate", file, "--model", other, *FAST)
    assert ended.code == 2
    assert "belong to" in ended.err
    assert "tokenizer" in ended.err


def test_labels_that_no_condition_can_name_are_refused_before_a_model_is_opened(cli: Cli, tmp_path: Path) -> None:
    texts = tmp_path / "texts.jsonl"
    rows = [{"text": f"It is {label} {number}.", "emotion": label} for label in ("joy", "random") for number in "123"]
    texts.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    named = ("--stimuli", texts, "--emotions", "joy,random")
    ended = cli("vectors", "extract", "--model", tmp_path / "none", "--out", tmp_path / "x", *named)
    assert ended.code == 2
    assert "No condition can name vectors of 'random'" in " ".join(ended.err.split())


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("extract", "--model", "scripted:x", "--out", "x.safetensors"), "Only a local model can be steered"),
        (("extract", "--model", "smollm2", "--out", "x", "--method", "svd"), "--method 'svd'"),
        (("extract", "--model", "smollm2", "--out", "x", "--states", "first"), "--states 'first'"),
        (("extract", "--model", "smollm2", "--out", "x", "--stimuli", "none.csv"), "no file none.csv"),
        (("show", "none.safetensors"), "There is no file none.safetensors"),
        (("validate", "x", "--model", "smollm2", "--strengths", "a"), "--strengths 'a'"),
        (("extract", "--model", "smollm2", "--out", "x", "--emotions", ""), "No emotion is named"),
        (("validate", "x", "--model", "smollm2", "--compared", "3"), "(3) is not among the strengths (0.025, 0.05"),
        (("validate", "x", "--model", "smollm2", "--layers", "foo"), "--layers 'foo': expected early"),
        (("validate", "x", "--model", "smollm2", "--layers", "1-2-3"), "--layers '1-2-3'"),
        (("validate", "x", "--model", "smollm2", "--layers", "0-3,"), "--layers '0-3,'"),
        (("validate", "x", "--model", "smollm2", "--sweep-layers", "3-1"), "--sweep-layers '3-1'"),
        (("validate", "x", "--model", "smollm2", "--figure", "x.exe"), "end it in .svg, .png, .pdf"),
        (("validate", "x", "--model", "smollm2", "--html", "no/x.html"), "there is no folder no"),
        (("validate", "x", "--model", "smollm2", "--sweep-layers", "few"), "--sweep-layers 'few'"),
        (("validate", "x", "--model", "smollm2", "--sweep-scale", "kl"), "--sweep-scale 'kl'"),
        (("export", "none.safetensors", "--emotion", "joy", "--out", "x.gguf"), "There is no file"),
    ],
)
def test_mistakes_are_said(
    cli: Cli, words: tuple[str, ...], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = cli("vectors", *words)
    assert ended.code == 2
    assert says in ended.err
    assert list(tmp_path.iterdir()) == []
