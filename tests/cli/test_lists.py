"""Lists on a narrow terminal: nothing that must be copied is broken."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from affectlab.labels import load
from affectlab.models import catalogue
from affectlab.models.spec import CatalogueRow

Cli = Callable[..., Any]
INSTALL = "pip install --no-deps " + " ".join(f"a-wheel-with-a-long-name-part{n}==1.0.0" for n in range(4))


@pytest.fixture(autouse=True, params=[40, 80])
def _columns(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(request.param))


@pytest.mark.parametrize("space", ["cue_stance9", "care_appraisal22", "care_negative10"])
def test_ids_of_labels_stand_whole_at_the_head_of_their_line(cli: Cli, space: str) -> None:
    lines = cli("labels", space).out.splitlines()
    for label in load(space).ids:
        assert any(line.startswith(f"{label} ") for line in lines), label


def test_columns_without_anything_in_them_are_left_out(cli: Cli) -> None:
    assert " zh " in cli("labels", "cue_stance9").out
    assert " zh " not in cli("labels", "care_appraisal22").out


def test_install_commands_stand_on_one_line(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        CatalogueRow("some-model", "a model", False, "its own", frozenset(), INSTALL),
        CatalogueRow("another", "another model", False, "its own", frozenset(), INSTALL),
        *catalogue(),
    ]
    monkeypatch.setattr("affectlab.models.catalogue", lambda: rows)
    out = cli("models").out
    assert f"\nFor some-model, another:\n  {INSTALL}\n" in out
    for row in rows:
        assert any(line.startswith(f"{row.spec} ") for line in out.splitlines())


def test_ids_of_duplicates_are_not_broken_at_their_blanks(cli: Cli, tmp_path: Path) -> None:
    first, second = "the first of all the scenes", "the second of all the scenes there are"
    file = tmp_path / "x.csv"
    file.write_text(f"id,sentence\n{first},A dog barks.\n{second},A dog barks.\n", encoding="utf-8")
    ended = cli("items", "duplicates", file)
    assert ended.code == 1
    assert f"{first}  {second}" in " ".join(ended.out.splitlines())
