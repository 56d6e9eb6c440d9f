"""``affectlab decide``, ``drift`` and ``audit thoughts``, as a user types them, with replies from a file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Ended

from affectlab.cli.decide import Controls, conditions_of
from affectlab.errors import UserError

Cli = Callable[..., Ended]
ITEMS = 12


@pytest.fixture
def decisions(tmp_path: Path) -> Path:
    """Twelve hunts: the first option is the hare, the second the stag."""
    options = [{"text": "Hunt the hare alone", "value": 0}, {"text": "Join the others at the stag", "value": 1}]
    rows = [
        {"id": f"h{n:02d}", "role": "stag_hunt", "scenario": f"Camp {n} sets out at dawn.", "options": options}
        for n in range(ITEMS)
    ]
    path = tmp_path / "decisions.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def line(item: str, reply: str, **selectors: Any) -> dict[str, Any]:
    return {"item": item, "reply": reply, **selectors}


def script(path: Path, *lines: dict[str, Any]) -> str:
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return f"scripted:{path}"


def test_emotions_by_strengths_then_controls() -> None:
    found = conditions_of("anger, happiness", "0.6,1.5", Controls(random=2, prompts=True))
    assert found == [
        "anger@0.6",
        "anger@1.5",
        "joy@0.6",
        "joy@1.5",
        "random@0.6:seed=0",
        "random@0.6:seed=1",
        "random@1.5:seed=0",
        "random@1.5:seed=1",
        "prompt:anger",
        "prompt:joy",
    ]
    assert len(conditions_of("all", "0.6,0.8,1.0,1.5", Controls())) == 24
    assert conditions_of("fear", "0.1", Controls(1, 1, 1), ":relative:layers=21-23") == [
        "fear@0.1:relative:layers=21-23",
        "random@0.1:relative:layers=21-23:seed=0",
        "kl-random@0.1:relative:layers=21-23:seed=0",
        "permuted:fear@0.1:relative:layers=21-23:seed=0",
    ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("boredom", "1.0", Controls()), "--emotions boredom"),
        (("joy,none", "1.0", Controls()), "--emotions none: expected"),
        (("all", "strong", Controls()), "--alpha 'strong'"),
        (("all", "none", Controls(random=1)), "--random-control goes with strengths"),
        (("all", "none", Controls(permuted=1)), "--permuted-control goes with strengths"),
        (("all", "none", Controls()), "nothing to compare"),
    ],
)
def test_what_makes_no_comparison_is_refused(arguments: tuple[str, str, Controls], said: str) -> None:
    with pytest.raises(UserError, match=said):
        conditions_of(*arguments)


def test_decide_with_prompts_measures_and_drift_puts_models_side_by_side(
    cli: Cli, decisions: Path, tmp_path: Path
) -> None:
    # Letters turn over items, so a model that always says A chooses either option; under anger it says B.
    moved = script(tmp_path / "moved.jsonl", line("*", "ANSWER: A"), line("*", "ANSWER: B", condition="prompt:anger"))
    still = script(tmp_path / "still.jsonl", line("*", "ANSWER: A"))
    common = (
        "--items",
        decisions,
        "--alpha",
        "none",
        "--prompt-control",
        "--emotions",
        "anger,joy",
        "--replicates",
        "50",
    )
    ran = cli("decide", "--model", moved, "--out", tmp_path / "moved", *common, "--json")
    assert ran.code == 0, ran.err
    sheets = ran.json["scores"]
    figures = {one["name"]: one["value"] for one in sheets["prompt:anger"]["headline"]}
    # Every hunt moves by the whole range, as many up as down.
    assert (figures["ndm"], figures["nad"]) == (1.0, 0.0)
    assert {one["name"]: one["value"] for one in sheets["prompt:joy"]["headline"]}["ndm"] == 0.0
    tables = {table["id"]: table for table in sheets["neutral"]["tables"]}
    assert tables["missing"]["rows"] == [["prompt:anger", 0, 0.0], ["prompt:joy", 0, 0.0]]
    assert cli("decide", "--model", still, "--out", tmp_path / "still", *common, "--json").code == 0
    side = cli("drift", tmp_path / "moved", tmp_path / "still", "--replicates", "20", "--html", tmp_path / "d.html")
    assert side.code == 0, side.err
    assert "Drift by run" in side.out
    page = (tmp_path / "d.html").read_text(encoding="utf-8")
    assert "2 runs: " in page
    assert f"affectlab drift {tmp_path / 'moved'}" in page
    twice = cli("drift", tmp_path / "moved", tmp_path / "moved")
    assert twice.code == 2
    assert "named twice" in twice.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--by", "guess"), "--by guess"),
        (("--cot", "--thinking"), "choose one"),
        (("--by", "likelihood", "--cot"), "without generating"),
        (("--vectors", "nothere.safetensors"), "--vectors nothere.safetensors: there is no such file"),
        (("--vectors", "any.safetensors", "--alpha", "none", "--prompt-control"), "--vectors goes with strengths"),
        (("--layers", "30-2"), "Layers 30-2: a range rises"),
        (("--first-move", "huge"), "first_move=huge"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_anything_is(
    cli: Cli, decisions: Path, tmp_path: Path, options: tuple[str, ...], said: str
) -> None:
    model = script(tmp_path / "m.jsonl", line("*", "ANSWER: A"))
    ended = cli("decide", "--model", model, "--out", tmp_path / "run", "--items", decisions, *options)
    assert ended.code == 2
    assert said in ended.err


def test_thoughts_that_give_moved_decisions_away_are_asked_again(cli: Cli, decisions: Path, tmp_path: Path) -> None:
    """Under anger the first six decisions turn round, with a telling thought; the second turn takes them back."""
    told = "I am furious, so I turn.\nANSWER: B"
    calm = "I look at it calmly.\nANSWER: A"
    lines = [line("*", calm), line("*", calm, step="reflect")]
    lines += [line(f"h{n:02d}", told, condition="prompt:anger") for n in range(6)]
    lines += [line(f"h{n:02d}", calm, condition="prompt:anger", step="reflect") for n in range(6)]
    model = script(tmp_path / "m.jsonl", *lines)
    ran = cli(
        "decide", "--model", model, "--out", tmp_path / "run", "--items", decisions, "--cot", "--alpha", "none",
        "--prompt-control", "--emotions", "anger", "--replicates", "20", "--json",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    arguments = (
        "audit", "thoughts", tmp_path / "run", "--model", model, "--out", tmp_path / "audit", "--replicates", "50",
        "--json",
    )  # fmt: skip
    ended = cli(*arguments)
    assert ended.code == 0, ended.err
    tables = ended.json["tables"]
    thoughts, moved, auc, flagged, right, _ = tables["caught"]["rows"][0]
    assert (thoughts, moved, auc, flagged, right) == (ITEMS, 0.5, 1.0, 6, 1.0)
    first = tables["second_turn"]["rows"][0]
    # NDM after the audit 0, before it .5.
    assert first[:4] == ["NDM", "audited − not audited", 0.0, 0.5]
    kept = (tmp_path / "audit" / "responses.jsonl").read_text(encoding="utf-8")
    again = cli(*arguments)
    assert again.json == ended.json
    assert (tmp_path / "audit" / "responses.jsonl").read_text(encoding="utf-8") == kept


def parameters(path: Path, **items: tuple[float, float]) -> Path:
    """Difficulty and discrimination of items, as `affectlab audit items --json` prints them."""
    columns = ["role", "item", "verdict", "discrimination", "difficulty"]
    rows = [["stag hunt", name, "kept", slope, level] for name, (level, slope) in items.items()]
    path.write_text(json.dumps({"kept": {}, "tables": {"items": {"columns": columns, "rows": rows}}}), encoding="utf-8")
    return path


def test_what_reasoning_adds_is_regressed_on_item_parameters(cli: Cli, decisions: Path, tmp_path: Path) -> None:
    """With reasoning anger turns the first six hunts round, which are the hard ones; scored by likelihood none."""
    lines = [line("*", "So be it.\nANSWER: A"), {"item": "*", "logprobs": [-1.0, -2.0]}]
    lines += [line(f"h{n:02d}", "Enough!\nANSWER: B", condition="anger@1.0") for n in range(6)]
    model = script(tmp_path / "m.jsonl", *lines)
    common = ("--items", decisions, "--emotions", "anger", "--alpha", "1.0", "--model", model, "--replicates", "20")
    for folder, how in (("cot", ("--cot",)), ("direct", ("--by", "likelihood"))):
        assert cli("decide", "--out", tmp_path / folder, *how, *common).code == 0
    # Difficulty 1 for the six, 0 for the others; two items have no parameters.
    file = parameters(tmp_path / "p.json", **{f"h{n:02d}": (float(n < 6), 1.0 + n % 2) for n in range(10)})
    ended = cli(
        "drift", tmp_path / "cot", tmp_path / "direct", "--items-parameters", file, "--replicates", "20", "--json"
    )
    assert ended.code == 0, ended.err
    slopes = {row[0]: row[1] for row in ended.json["tables"]["moderation_ndm"]["rows"]}
    assert slopes == pytest.approx({"intercept": 0.0, "difficulty": 1.0, "discrimination": 0.0}, abs=1e-9)
    assert any(note.startswith("2 of 12 items have no parameters") for note in ended.json["notes"])
    # Anger has no direction in the stag hunt: nothing is added to NAD, and that is said.
    assert "moderation_nad" not in ended.json["tables"]
    assert any("NAD is not regressed" in note and "nothing to explain" in note for note in ended.json["notes"])
    alone = cli("drift", tmp_path / "cot", "--items-parameters", file)
    assert alone.code == 2
    assert "one without" in alone.err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "holds no item parameters"),
        ("[]", "holds no item parameters"),
        ('{"tables": {"items": {"columns": ["item"], "rows": []}}}', "holds no item parameters"),
        ('{"tables": {"items": {"columns": ["item", "difficulty", "discrimination"], "rows": []}}}', "names no item"),
        (
            '{"tables": {"items": {"columns": ["item", "difficulty", "discrimination"], "rows": [["a", null, 1]]}}}',
            "item 'a'",
        ),
    ],
)
def test_a_file_without_item_parameters_is_refused(cli: Cli, tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "p.json"
    file.write_text(text, encoding="utf-8")
    ended = cli("drift", tmp_path, "--items-parameters", file)
    assert ended.code == 2
    assert said in ended.err


def test_a_run_without_reasoning_has_no_thoughts(cli: Cli, decisions: Path, tmp_path: Path) -> None:
    model = script(tmp_path / "m.jsonl", line("*", "ANSWER: A"))
    cli(
        "decide", "--model", model, "--out", tmp_path / "run", "--items", decisions, "--alpha", "none",
        "--prompt-control", "--emotions", "anger", "--replicates", "20",
    )  # fmt: skip
    ended = cli("audit", "thoughts", tmp_path / "run", "--model", model, "--out", tmp_path / "audit")
    assert ended.code == 2
    assert "--cot" in ended.err


def test_a_file_of_vectors_may_be_gone_when_the_run_kept_them(cli: Cli, decisions: Path, tmp_path: Path) -> None:
    """It is then left to the model to open; a script, which no vector steers, says so."""
    model = script(tmp_path / "m.jsonl", line("*", "ANSWER: A"))
    command = (
        "decide", "--model", model, "--out", tmp_path / "run", "--items", decisions, "--alpha", "1.0", "--emotions",
        "joy", "--vectors", tmp_path / "gone.safetensors", "--replicates", "20",
    )  # fmt: skip
    assert "gone.safetensors: there is no such file" in cli(*command).err
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "vectors.safetensors").write_bytes(b"kept")
    assert "gone.safetensors steers no script" in cli(*command).err
