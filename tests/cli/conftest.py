"""Calling the command line in this process, as a shell would see it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from affectlab.cli.common import guarded
from affectlab.cli.main import app

SCENE = {
    "id": "s1",
    "sentence": "The last tram pulls out with Ana on board; Bo reaches the stop and looks at an empty track.",
    "agent_a_role": "Ana, on the tram",
    "agent_b_role": "Bo, at the stop",
    "agent_a_emotion": "relief",
    "agent_b_emotion": "anger",
}


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output as one JSON document."""
        return json.loads(self.out)


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ended]:
    """``cli("run", "chiaro", …)``; standard output and error are what the user would see."""

    def call(*arguments: str | Path) -> Ended:
        words = [str(argument) for argument in arguments]
        monkeypatch.setattr("sys.argv", ["affectlab", *words])
        code = guarded(lambda: app(words, prog_name="affectlab"), debug="--debug" in words)
        captured = capsys.readouterr()
        return Ended(code, captured.out, captured.err)

    return call


@pytest.fixture
def script(tmp_path: Path) -> str:
    """A model that always gives the same answer."""
    path = tmp_path / "replies.jsonl"
    path.write_text(json.dumps({"item": "*", "reply": "AGENT A: A\nAGENT B: B"}) + "\n", encoding="utf-8")
    return f"scripted:{path}"


@pytest.fixture
def scenes(tmp_path: Path) -> Callable[..., Path]:
    """Writes scenes to a file: ``scenes({"id": "2"}, …)`` gives changes to a good scene, one row each."""

    def write(*changes: dict[str, Any], name: str = "scenes.jsonl") -> Path:
        path = tmp_path / name
        rows = [
            {key: value for key, value in (SCENE | change).items() if value is not ...} for change in changes or ({},)
        ]
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
        return path

    return write
