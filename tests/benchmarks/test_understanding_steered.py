"""EmoScene and CAREBench on a tiny local model under a condition, cut short and gone on with."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from affectlab.runs import RunFolder, execute, make_plan, score_run

pytest.importorskip("torch", reason="local models need torch")
pytest.importorskip("transformers", reason="local models need transformers")

pytestmark = pytest.mark.model

ANGRY = "anger@0.5:relative"


def logprobs(folder: Path) -> dict[tuple[str, ...], list[float]]:
    rows = [json.loads(line) for line in RunFolder.at(folder).responses_path.read_text("utf-8").splitlines()]
    return {(row["condition"], row["variant"], row["step"]): row["response"]["logprobs"] for row in rows}


def predictions(folder: Path) -> list[dict[str, Any]]:
    found = [json.loads(line) for line in (folder / "predictions.jsonl").read_text("utf-8").splitlines()]
    return [{name: one[name] for name in ("item", "slot", "condition", "value", "gold")} for one in found]


def approximately(value: Any) -> Any:
    """Means of a scale differ in the last digits, as batches do."""
    return pytest.approx(value, abs=1e-4) if isinstance(value, float) else value


@pytest.mark.parametrize(
    ("benchmark", "protocol", "requests", "slots"),
    [("emoscene", "yes_no", 8, 8), ("care", "s-likelihood", 44, 24 + 24 + 2)],
)
def test_cut_short_and_gone_on_with_under_a_condition(
    benchmark: str, protocol: str, requests: int, slots: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.support import tiny_models

    from affectlab.models import ModelSettings, open_model

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    spec = str(tiny_models.save(tmp_path / "model", context=2048))
    model = open_model(spec, ModelSettings(device="cpu", threads=1))
    plan = make_plan(benchmark, protocol=protocol, limit=1, conditions=[ANGRY])
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    assert execute(plan, model, whole).complete
    found = logprobs(whole)
    assert len(found) == 2 * requests
    moved = [key for key in found if key[0] == ANGRY and found[key] != pytest.approx(found["neutral", *key[1:]])]
    assert len(moved) == requests

    shutil.copytree(whole, cut)
    responses = RunFolder.at(cut).responses_path
    text = responses.read_bytes()
    responses.write_bytes(text[: 2 * len(text) // 3])  # as a kill leaves it, in the middle of a line
    session = execute(plan, model, cut)
    assert session.complete
    assert 0 < session.found < 2 * requests
    assert logprobs(cut) == {key: pytest.approx(values, abs=1e-4) for key, values in found.items()}
    for folder in (whole, cut):
        score_run(folder)
    for one, other in zip(predictions(cut), predictions(whole), strict=True):
        assert one == {**other, "value": approximately(other["value"])}
    assert len(predictions(whole)) == 2 * slots
