"""The hub reader against a stand-in for the ``datasets`` library, which the tests do not install."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from affectlab.errors import UserError, WorldError
from affectlab.items import Row, read_rows, source_digest

SPLITS = {"train": [{"text": "a"}, {"text": "b"}], "test": [{"text": "c"}]}


def install(monkeypatch: pytest.MonkeyPatch, load_dataset: Callable[..., Any]) -> None:
    module = ModuleType("datasets")
    module.load_dataset = load_dataset  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "datasets", module)


def test_one_split_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, lambda name: SPLITS if name == "org/set" else {})
    assert read_rows("hub:org/set:train") == [Row(1, {"text": "a"}, 1), Row(2, {"text": "b"}, 2)]
    assert read_rows("hub:org/set:test", {"sentence": "text"}) == [Row(1, {"sentence": "c"}, 1)]


def test_a_single_split_needs_no_name(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, lambda name: {"only": SPLITS["test"]})
    assert read_rows("hub:set") == [Row(1, {"text": "c"}, 1)]


def test_splits_are_named_in_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, lambda name: SPLITS)
    with pytest.raises(UserError, match="several splits; write hub:set:SPLIT with one of train, test"):
        read_rows("hub:set")
    with pytest.raises(UserError, match="no split 'dev'; it has: train, test"):
        read_rows("hub:set:dev")


def test_remote_code_is_refused_where_the_library_would_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[bool | None] = []

    def older(name: str, trust_remote_code: bool | None = None) -> Any:
        said.append(trust_remote_code)
        return {"only": SPLITS["test"]}

    install(monkeypatch, older)
    read_rows("hub:set")
    assert said == [False]


@pytest.mark.parametrize(
    ("raised", "expected", "message"),
    [
        (FileNotFoundError("gone"), UserError, "no data set 'set'"),
        (ValueError("needs code"), UserError, "cannot be loaded: needs code"),
        (ConnectionError("down"), WorldError, "cannot be reached"),
        (OSError("503"), WorldError, "cannot be fetched"),
    ],
)
def test_failures(monkeypatch: pytest.MonkeyPatch, raised: Exception, expected: type[Exception], message: str) -> None:
    def fail(name: str) -> Any:
        raise raised

    install(monkeypatch, fail)
    with pytest.raises(expected, match=message):
        read_rows("hub:set")


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(UserError, match=r"pip install affectlab\[hub\]"):
        read_rows("hub:set")
    with pytest.raises(UserError, match="names no data set"):
        read_rows("hub:")


def test_digest_goes_by_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, lambda name: {"only": [{"a": 1, "b": "é"}]})
    one = source_digest("hub:set")
    install(monkeypatch, lambda name: {"only": [{"b": "é", "a": 1}]})
    assert source_digest("hub:set") == one
    install(monkeypatch, lambda name: {"only": [{"a": 2, "b": "é"}]})
    assert source_digest("hub:set") != one
