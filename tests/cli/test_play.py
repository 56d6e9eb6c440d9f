"""``affectlab play``, as a shell sees it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support.saying import Saying

from affectlab.models.base import Failure, Request

Cli = Callable[..., Any]


def test_a_match_of_strategies(cli: Cli, tmp_path: Path) -> None:
    pair = ("--player", "strategy:tit_for_tat", "--player", "strategy:always_defect")
    out = tmp_path / "out"
    shown = cli("play", "prisoners_dilemma", *pair, "--rounds", "10", "--out", out)
    assert shown.code == 0
    assert "0.90" in shown.out
    assert "No round was lost" in shown.out
    document = cli("play", "prisoners_dilemma", *pair, "--rounds", "10", "--out", out, "--json").json
    assert document["matches"][0]["payoffs"] == [0.9, 1.4]
    assert document["session"] == {"asked": 0, "failed": 0, "interrupted": False, "complete": True}


def test_a_scripted_model_of_nonsense_is_reported(cli: Cli, tmp_path: Path) -> None:
    script = tmp_path / "replies.jsonl"
    script.write_text(json.dumps({"item": "*", "reply": "Fine weather."}) + "\n", encoding="utf-8")
    given = ("--player", f"scripted:{script}", "--player", "strategy:tit_for_tat", "--rounds", "5")
    shown = cli("play", "stag_hunt", *given, "--out", tmp_path / "out")
    assert shown.code == 0
    assert "5 moves were drawn" in " ".join(shown.out.split())
    assert len((tmp_path / "out" / "rounds.jsonl").read_text(encoding="utf-8").splitlines()) == 5


def test_a_tournament_of_states_of_one_model(cli: Cli, tmp_path: Path) -> None:
    script = tmp_path / "replies.jsonl"
    script.write_text(json.dumps({"item": "*", "reply": "ANSWER: 3"}) + "\n", encoding="utf-8")
    players = [
        word
        for state in ("", " as prompt:anger", " as prompt:joy")
        for word in ("--player", f"scripted:{script}{state}")
    ]
    document = cli("play", "sealed_bid", *players, "--tournament", "--out", tmp_path / "out", "--json").json
    assert len(document["matches"]) == 6
    assert {match["surplus"] for match in document["matches"]} == {0.4}  # (10 - 3 - 3) / 10
    given = ("--model", f"scripted:{script}", "--emotions", "anger,happiness", "--alpha", "0.5")
    states = cli("play", "sealed_bid", *given, "--out", tmp_path / "b", "--json").json
    names = [one["name"].removeprefix(f"scripted:{script}") for one in states["players"]]
    assert names == ["", " as anger@0.5", " as joy@0.5"]


@pytest.mark.parametrize("emotions", ["neutral", "anger,neutral", ",", ""])
def test_a_tournament_is_of_emotions(cli: Cli, tmp_path: Path, script: str, emotions: str) -> None:
    refused = cli("play", "stag_hunt", "--model", script, "--emotions", emotions, "--out", tmp_path / "out")
    assert refused.code == 2
    assert f"--emotions {emotions!r}: expected all" in refused.err


def test_one_player_is_too_few(cli: Cli, tmp_path: Path) -> None:
    refused = cli("play", "trust", "--player", "strategy:grim", "--out", tmp_path / "out")
    assert refused.code == 2
    assert "two players or more" in refused.err


def test_missing_rounds_are_counted_and_not_called_kept(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def until(last: int) -> Callable[[Request], str | Failure]:
        rounds = [f"This is round {number} of 5." for number in range(1, last + 1)]
        return lambda request: (
            "ANSWER: A" if any(one in request.messages[1].content for one in rounds) else Failure("busy")
        )

    given = ("--player", "m", "--player", "strategy:tit_for_tat", "--rounds", "5")
    monkeypatch.setattr("affectlab.models.open_model", lambda spec, settings: Saying(until(2)))
    shown = cli("play", "prisoners_dilemma", *given, "--out", tmp_path / "out")
    assert shown.code == 1
    assert "Matches: 1; rounds finished: 2 of 5." in shown.out
    assert "3 rounds are not played yet." in " ".join(shown.out.split())
    assert "No round was lost" not in shown.out
    monkeypatch.setattr("affectlab.models.open_model", lambda spec, settings: Saying(until(0)))
    nothing = cli("play", "prisoners_dilemma", *given, "--out", tmp_path / "none")
    assert "Matches: 1; rounds finished: 0 of 5." in nothing.out
    assert "lost" not in nothing.out


def test_options_that_would_do_nothing_are_refused(cli: Cli, tmp_path: Path) -> None:
    pair = ("--player", "strategy:grim", "--player", "strategy:tit_for_tat", "--out", tmp_path / "out")
    assert "--vectors goes with a player" in cli("play", "stag_hunt", *pair, "--vectors", "none.safetensors").err
    assert "--emotions goes with --model" in cli("play", "stag_hunt", *pair, "--emotions", "anger").err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("command", ["score", "report", "drift"])
def test_a_folder_of_matches_is_told_from_a_broken_run(cli: Cli, tmp_path: Path, command: str) -> None:
    out = tmp_path / "out"
    played = ("play", "stag_hunt", "--player", "strategy:grim", "--player", "strategy:random", "--out", str(out))
    assert cli(*played).code == 0
    refused = cli(command, out)
    assert refused.code == 2
    assert "holds matches of `affectlab play`, not a run of a benchmark" in refused.err
    assert f"affectlab {' '.join(played)}" in refused.err  # the command that prints the tables again
    assert "broken" not in refused.err


def test_no_run_is_put_over_matches_that_needed_no_model(cli: Cli, tmp_path: Path, script: str) -> None:
    out = tmp_path / "out"
    played = ("play", "stag_hunt", "--player", "strategy:grim", "--player", "strategy:random", "--out", out)
    assert cli(*played).code == 0
    before = (out / "manifest.json").read_bytes()
    refused = cli("run", "decisions", "--model", script, "--limit", "2", "--out", out)
    assert refused.code == 2
    assert "holds matches of `affectlab play`" in refused.err
    assert (out / "manifest.json").read_bytes() == before


def test_a_large_tournament_is_shown_by_pairing(cli: Cli, tmp_path: Path) -> None:
    names = ("always_defect", "always_cooperate", "grim")
    given = [word for name in names for word in ("--player", f"strategy:{name}")]
    command = ("play", "prisoners_dilemma", *given, "--tournament", "--matches", "8", "--out", tmp_path / "out")
    shown = cli(*command)
    assert "Matches: 48; rounds finished: 48 of 48." in shown.out
    assert "Means over the matches of each pairing" in shown.out
    document = cli(*command, "--json").json
    assert len(document["matches"]) == 48
    pairings = {tuple(one["players"]): one for one in document["pairings"]}
    assert len(pairings) == 6
    one = pairings["strategy:always_defect", "strategy:always_cooperate"]
    assert (one["matches"], one["payoffs"]) == (8, [5, 0])
