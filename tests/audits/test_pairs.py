"""One model asked in two ways, on what both ways were asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tests.audits.hunts import data, decided, line, scripted

from affectlab.audits.pairs import agreement_table, compared, cut, pairs_of, unlike
from affectlab.benchmarks.decisions.measures import choices_of
from affectlab.models.base import Model
from affectlab.runs import ScoredRun, read_run
from affectlab.stats.bootstrap import Interval
from affectlab.stats.estimate import Estimate

QUICK = Interval(replicates=20)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return data(tmp_path / "d.jsonl")


def read(
    folder: Path, model: Model, file: Path, protocol: str, conditions: Sequence[str] = (), limit: int | None = None
) -> ScoredRun:
    return read_run(decided(folder, model, file, protocol, conditions, limit=limit), Interval(replicates=1))


def test_agreement_is_the_share_of_questions_that_end_in_the_same_option(tmp_path: Path, file: Path) -> None:
    # Generated: A everywhere but where it cannot be read; scored: A is likelier but on two hunts.
    model = scripted(
        tmp_path / "m.jsonl",
        line("*", "ANSWER: A"),
        line("s03", "no idea"),
        {"item": "*", "logprobs": {"A": -0.1, "B": -2.0}},
        *({"item": item, "logprobs": {"A": -2.0, "B": -0.1}} for item in ("s00", "s01")),
    )
    runs = {
        "scored": read(tmp_path / "r1", model, file, "likelihood", ["prompt:joy"], limit=9),
        "generated": read(tmp_path / "r2", model, file, "choice", ["prompt:joy", "prompt:fear"]),
    }
    (pair,) = pairs_of(runs)
    assert (pair.items, pair.conditions) == (tuple(f"s{n:02d}" for n in range(9)), ("neutral", "prompt:joy"))
    found = agreement_table(runs, pair)
    assert found.title == "Likelihood against generation: the same option"
    assert found.columns == ("condition", "agreement", "both read", "not both read")
    for row, condition in zip(found.rows, ("neutral", "prompt:joy"), strict=True):
        # Nine hunts: one is not read, two of the other eight end otherwise.
        share = row[1]
        assert isinstance(share, Estimate)
        assert (row[0], share.value, row[2], row[3]) == (condition, 0.75, 8, 1)
    (table,), said = compared(runs, {}, pair, QUICK)
    assert table == found
    assert said == (
        "scored against generated: compared on the 9 items that both have (of 9 and 12) and the 2 conditions that "
        "both have (of 2 and 3)."
    )


def test_a_question_without_a_response_is_not_read_both_ways(tmp_path: Path, file: Path) -> None:
    model = scripted(tmp_path / "m.jsonl", line("*", "ANSWER: A"), {"item": "*", "logprobs": {"A": -0.1, "B": -2.0}})
    scored = read(tmp_path / "r1", model, file, "likelihood", limit=4)
    runs = {
        "scored": replace(scored, predictions=scored.predictions[1:]),
        "generated": read(tmp_path / "r2", model, file, "choice", limit=4),
    }
    (pair,) = pairs_of(runs)
    (row,) = agreement_table(runs, pair).rows
    # Of four hunts one has no response by likelihood.
    assert row[2:] == (3, 1)


def test_namesakes_and_runs_by_one_protocol_are_no_pairs(tmp_path: Path, file: Path) -> None:
    model, namesake = (
        scripted(tmp_path / "m.jsonl", line("*", "ANSWER: A")),
        scripted(tmp_path / "x" / "m.jsonl", line("*", "ANSWER: B")),
    )
    runs = {
        "cot": read(tmp_path / "r1", model, file, "cot", ["anger@1.0"]),
        "direct": read(tmp_path / "r2", model, file, "choice", ["anger@1.0"]),
        "again": read(tmp_path / "r3", model, file, "choice", ["anger@1.0"]),
        "other": read(tmp_path / "r4", namesake, file, "choice", ["anger@1.0"]),
    }
    assert [(pair.one, pair.other) for pair in pairs_of(runs)] == [("cot", "direct"), ("cot", "again")]
    backwards = dict(reversed(runs.items()))
    assert [(pair.one, pair.other) for pair in pairs_of(backwards)] == [("cot", "again"), ("cot", "direct")]


def test_reasoning_is_compared_on_the_strengths_and_items_of_both(tmp_path: Path, file: Path) -> None:
    """With reasoning joy turns every hunt round at both strengths, without it none."""
    calm = line("*", "ANSWER: A")
    thinking = scripted(tmp_path / "m.jsonl", calm, line("*", "So.\nANSWER: B", condition="joy@1.0"))
    runs = {
        "direct": read(tmp_path / "r1", thinking, file, "choice", ["joy@1.0"], limit=8),
        "cot": read(tmp_path / "r2", thinking, file, "cot", ["joy@0.6", "joy@1.0"]),
        "thinking": read(tmp_path / "r3", thinking, file, "thinking", ["prompt:joy"]),
    }
    choices = {name: choices_of(run.table) for name, run in runs.items()}
    cot, thought, both = (one for one in pairs_of(runs))
    assert (cot.one, cot.other, cot.conditions) == ("cot", "direct", ("neutral", "joy@1.0"))
    short = cut(choices["cot"], cot)
    assert (short.conditions, len(short.items), short.response.shape) == (("neutral", "joy@1.0"), 8, (8, 2))
    assert {len(one) for one in (short.item, short.repeat, short.asked, short.keys)} == {8}
    (table,), said = compared(runs, choices, cot, QUICK)
    # Both ways turn all eight hunts round at strength 1; strength .6, where the reasoned run stays, is not in it.
    ndm = dict(zip(table.columns, table.rows[0], strict=True))
    assert (ndm["figure"], ndm["with"], ndm["without"]) == ("NDM", 1.0, 1.0)
    assert "the 8 items that both have (of 12 and 8)" in said
    assert compared(runs, choices, thought, QUICK) == (
        (),
        "thinking against direct: not compared, as they have no emotion vector of one strength in common.",
    )
    assert both.emotions is False


def test_runs_without_an_item_in_common_are_not_compared(tmp_path: Path, file: Path) -> None:
    told = data(tmp_path / "e.jsonl", options=("Hunt the hare alone", "Wait for the others at the stag"))
    model = scripted(tmp_path / "m.jsonl", line("*", "ANSWER: A"))
    runs = {
        "cot": read(tmp_path / "r1", model, file, "cot", ["joy@1.0"]),
        "direct": read(tmp_path / "r2", model, told, "choice", ["joy@1.0"]),
    }
    (pair,) = pairs_of(runs)
    assert compared(runs, {}, pair, QUICK) == (
        (),
        "cot against direct: not compared, as they were asked no item in common.",
    )
    assert list(unlike(runs))[1:] == ["12 ids stand for one item in cot and for another in direct."]


def test_runs_that_were_asked_otherwise_are_said_to_be(tmp_path: Path, file: Path) -> None:
    model = scripted(tmp_path / "m.jsonl", line("*", "ANSWER: A"))
    alike = [read(tmp_path / f"r{n}", model, file, "choice", ["joy@1.0"]) for n in range(2)]
    assert not list(unlike({"a": alike[0], "b": alike[1]}))
    fewer = read(tmp_path / "r2", model, file, "choice", ["joy@1.0", "fear@1.5"], limit=5)
    (said,) = unlike({"a": alike[0], "c": fewer})
    assert said == (
        "These runs were not asked the same items and conditions, so their means are not of the same questions: "
        "a (12 items, 2 conditions, 1 emotions, strengths 1); c (5 items, 3 conditions, 2 emotions, strengths 1, 1.5)."
    )
