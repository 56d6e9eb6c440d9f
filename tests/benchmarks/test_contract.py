"""What every benchmark must do, whoever wrote it."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib import import_module
from importlib.resources import as_file
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from tests.support.example import example

from affectlab.benchmarks import benchmark_names, open_benchmark
from affectlab.benchmarks.base import Asking, Benchmark, Scoring
from affectlab.errors import UserError
from affectlab.items import Item
from affectlab.metrics.predictions import Column, PredictionTable
from affectlab.metrics.scores import Scores, dumps
from affectlab.models.base import Ability, Response
from affectlab.runs import Plan
from affectlab.runs.plan import Cell
from affectlab.stats.bootstrap import Interval

EXAMPLES: dict[str, Benchmark] = {"mood": example().BENCHMARK}
"""The benchmark that the documentation builds keeps the contract too."""

NAMES = (*benchmark_names(), *EXAMPLES)


def opened(name: str) -> Benchmark:
    return EXAMPLES[name] if name in EXAMPLES else open_benchmark(name)


PAIRS = [(name, protocol) for name in NAMES for protocol in opened(name).protocols]
GRADED = [name for name in NAMES if opened(name).graded]


@pytest.mark.parametrize("name", benchmark_names())
def test_a_benchmarks_modules_are_found_under_their_names(name: str) -> None:
    """A function taken into the package under a module's name would hide the module."""
    import_module(f"affectlab.benchmarks.{name}.measures")
    assert isinstance(import_module(f"affectlab.benchmarks.{name}").measures, ModuleType)


def scoring(table: PredictionTable, protocol: str, replicates: int) -> Scoring:
    return Scoring(table, "neutral", protocol, Interval(replicates=replicates))


def sample(benchmark: Benchmark) -> tuple[Item, ...]:
    with as_file(benchmark.sample) as path:
        return benchmark.load(str(path), {}, {}).items


def plan_of(name: str, protocol: str, asking: Asking) -> Plan:
    benchmark = opened(name)
    return Plan(benchmark, benchmark.protocols[protocol], sample(benchmark), "sample", "0" * 64, asking)


def answer_gold(plan: Plan) -> PredictionTable:
    answers = {}
    for cell, item in plan.cells():
        answered: dict[tuple[str, str], Response] = {}
        while True:
            asked = plan.requests(cell, item, answered)
            missing = [request for request in asked if (request.variant, request.step) not in answered]
            if not missing:
                break
            for request in missing:
                answered[request.variant, request.step] = plan.protocol.ideal_reply(
                    item, request, item.gold, plan.asking
                )
        answers[cell] = answered
    return PredictionTable.from_rows(plan.read(answers).predictions)


@pytest.mark.parametrize("name", NAMES)
def test_its_sample_loads_with_unique_ids_and_gold_of_its_slots(name: str) -> None:
    benchmark = opened(name)
    items = sample(benchmark)
    assert len({item.id for item in items}) == len(items) > 0
    assert [item.index for item in items] == list(range(len(items)))
    for item in items:
        assert set(item.gold) <= set(benchmark.slots)
        assert benchmark.graded or not item.gold
        for slot, gold in item.gold.items():
            space = benchmark.slots[slot]
            if space is not None and isinstance(gold, str):
                assert gold in space


@pytest.mark.parametrize(("name", "protocol"), PAIRS)
@pytest.mark.parametrize("order", ["rotate", "fixed", "all"])
def test_gold_as_replies_scores_perfect(name: str, protocol: str, order: str) -> None:
    plan = plan_of(name, protocol, Asking(order=order))  # type: ignore[arg-type]
    table = answer_gold(plan)
    assert set(table.outcome.values) == {"ok"}
    scores = plan.benchmark.score(scoring(table, protocol, 20))
    figures = {figure.name: figure.value for figure in scores.headline}
    perfect = {name: plan.benchmark.perfect.get(name, 1.0) for name in figures}
    assert figures == perfect or not plan.benchmark.graded


@pytest.mark.parametrize(("name", "protocol"), PAIRS)
def test_every_headline_figure_can_be_compared(name: str, protocol: str) -> None:
    """And its measures say of each whether it leaves unread answers out: whether it is the same without their rows."""
    plan = plan_of(name, protocol, Asking(order="all"))
    table = answer_gold(plan)
    headline = {figure.name for figure in plan.benchmark.score(scoring(table, protocol, 10)).headline}
    measured = plan.benchmark.measures(table, protocol)
    assert headline <= measured.statistics.keys()
    rng = np.random.default_rng(3)
    of = table.item.codes % 3  # answers are mixed up, some unread; right, some unread; and right
    codes = table.value.codes.copy()
    for slot in table.slot.values:
        rows = np.flatnonzero(table.slot.equals(slot) & (of == 0))
        codes[rows] = rng.permutation(codes[rows])
    unread = (of < 2) & (rng.random(len(table)) < 0.6)
    if protocol.startswith("counterfactual"):  # the writer's rating says whose feelings to compare, read or not
        unread &= ~np.isin(table.slot.codes, [code for code, slot in enumerate(table.slot.values) if "." in slot])
    mixed = replace(table, value=Column(codes, table.value.values))
    values = Column(np.where(unread, len(table.value.values), codes).astype(np.int32), (*table.value.values, None))
    outcomes = Column(unread.astype(np.int32), ("ok", "unparseable"))
    with_them = plan.benchmark.measures(replace(mixed, value=values, outcome=outcomes), protocol)
    without = plan.benchmark.measures(mixed.where(~unread), protocol)
    # With one item a label, as in the example, F1 is 0 whether an answer is wrong or unread.
    told = headline - ({"macro_f1"} if name in EXAMPLES else set())
    # Sums in another order may differ in the last digits.
    same = {one for one in told if with_them.value(one) == pytest.approx(without.value(one), abs=1e-12)}
    assert same == told & measured.leaving_out


@pytest.mark.parametrize(("name", "protocol"), PAIRS)
def test_requests_are_pure_unique_and_do_not_depend_on_other_items(name: str, protocol: str) -> None:
    plan = plan_of(name, protocol, Asking(order="all"))
    first = [plan.requests(cell, item, {}) for cell, item in plan.cells()]
    again = [plan.requests(cell, item, {}) for cell, item in replace(plan, items=plan.items[::-1]).cells()]
    assert first == again[::-1]
    keys = [request.key for requests in first for request in requests]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize(("name", "protocol"), PAIRS)
def test_scoring_protocols_give_options_and_others_do_not(name: str, protocol: str) -> None:
    plan = plan_of(name, protocol, Asking())
    needs = plan.protocol.needs
    assert needs
    for cell, item in plan.cells():
        for request in plan.requests(cell, item, {}):
            assert (Ability.SCORE if request.options else Ability.GENERATE) in needs


@pytest.mark.parametrize(("name", "protocol"), PAIRS)
def test_gold_never_shows_in_what_is_asked(name: str, protocol: str) -> None:
    """The same item with other gold is asked the same, up to the order of options."""
    plan = plan_of(name, protocol, Asking(order="fixed"))
    for cell, item in list(plan.cells())[:10]:
        for request in plan.requests(cell, item, {}):
            text = "\n".join(message.content for message in request.messages)
            for value in item.inputs.values():
                text = text.replace(str(value), "")
            offered = [line for line in text.splitlines() if line[1:3] == ". " or line.startswith("- ")]
            for gold in item.gold.values():
                shown = sum(str(gold) in line for line in text.splitlines())
                assert shown == sum(str(gold) in line for line in offered)


@pytest.mark.parametrize(("name", "protocol"), PAIRS)
def test_scores_survive_json(name: str, protocol: str) -> None:
    plan = plan_of(name, protocol, Asking())
    scores = plan.benchmark.score(scoring(answer_gold(plan), protocol, 10))
    assert Scores.from_dict(json.loads(dumps(scores.to_dict()))) == scores


@pytest.mark.parametrize("name", GRADED)
def test_predictions_without_gold_get_no_scores_and_a_note(name: str) -> None:
    plan = plan_of(name, next(iter(opened(name).protocols)), Asking())
    rows = [replace(row, gold=None) for row in plan.read(_gold_answers(plan)).predictions]
    scores = plan.benchmark.score(scoring(PredictionTable.from_rows(rows), plan.protocol.name, 10))
    assert scores.headline[0].value is None
    assert scores.headline[0].reason
    assert any("gold" in note for note in scores.notes)


def _gold_answers(plan: Plan) -> dict[Cell, dict[tuple[str, str], Response]]:
    return {
        cell: {
            (request.variant, request.step): plan.protocol.ideal_reply(item, request, item.gold, plan.asking)
            for request in plan.requests(cell, item, {})
        }
        for cell, item in plan.cells()
    }


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe\x00bad", b'{"id": "1"}\n'])
def test_a_broken_file_is_refused_with_its_name(name: str, content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "broken.jsonl"
    path.write_bytes(content)
    with pytest.raises(UserError, match=r"broken\.jsonl"):
        opened(name).load(str(path), {}, {})


@pytest.mark.parametrize("name", NAMES)
def test_references_name_a_source_and_known_figures(name: str) -> None:
    benchmark = opened(name)
    for row in benchmark.references:
        assert row.source
        assert all(-1 <= value <= 1 for value in row.figures.values())
