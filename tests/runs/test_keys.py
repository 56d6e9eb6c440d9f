"""The steps and variants that docs/run-folder.md names are those of the requests."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from affectlab.benchmarks import benchmark_names, open_benchmark
from affectlab.benchmarks.base import Asking
from affectlab.models.base import Response
from affectlab.runs import make_plan

PAGE = Path(__file__).resolve().parents[2] / "docs" / "run-folder.md"
OPTIONS = {"emoscene": {"explain": "yes"}}


def keys(name: str, protocol: str) -> set[tuple[str, str]]:
    """Variants and steps of the first two items, asked of a model that knows the answers."""
    plan = make_plan(name, protocol=protocol, limit=2, asking=Asking(options=OPTIONS.get(name, {})))
    found: set[tuple[str, str]] = set()
    for cell, item in plan.cells():
        answered: dict[tuple[str, str], Response] = {}
        before = -1
        while before < len(answered):
            before = len(answered)
            for one in plan.requests(cell, item, answered):
                answered[one.variant, one.step] = plan.protocol.ideal_reply(item, one, item.gold, plan.asking)
        found |= answered.keys()
    return found


def shape(key: str) -> str:
    """What keys of one kind share: which dimension, core, emotion, label or number is left out."""
    key = re.sub(r"^(relevance|certainty|congruence|control|accountability)\.\w+$", "DIMENSION", key)
    key = re.sub(r"core_\w+", "CORE", key)
    key = re.sub(r"^(joy|trust|fear|surprise|sadness|disgust|anger|anticipation)(?=$|:)", "EMOTION", key)
    return re.sub(r"(?<==)p?\d+$|(?<=_labels:)\w+$", "ONE", key)


@pytest.mark.parametrize("name", benchmark_names())
def test_the_page_names_every_kind_of_step_and_variant_and_no_other(name: str) -> None:
    asked = [key for protocol in open_benchmark(name).protocols for key in keys(name, protocol)]
    rows = [line.split("|") for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith(f"| `{name}`")]
    for column, found in ((3, {variant for variant, _ in asked} - {""}), (2, {step for _, step in asked})):
        named = {one for row in rows for one in re.findall(r"`([^`-][^` ]*)`", row[column])}
        assert set(map(shape, found)) == set(map(shape, named))
