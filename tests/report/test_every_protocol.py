"""Every form of report of a run of every protocol of every benchmark, of a model that knows half of the answers."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from html import unescape
from pathlib import Path

import pytest

from affectlab.benchmarks import benchmark_names, open_benchmark
from affectlab.models.base import Ability, Answer, ModelCard, Request
from affectlab.report.export import run_to_latex, write_csv, write_figures
from affectlab.report.from_run import report_of
from affectlab.report.html import run_html
from affectlab.report.terminal import make_console, print_report
from affectlab.runs import Plan, execute, make_plan, read_run
from affectlab.stats.bootstrap import Interval

PAIRS = [(name, protocol) for name in benchmark_names() for protocol in open_benchmark(name).protocols]


@dataclass(frozen=True)
class Knowing:
    """A model that answers every request to an item as its gold says; of the text to every second item nothing can be
    read.
    """

    plan: Plan

    @property
    def card(self) -> ModelCard:
        return ModelCard("knowing", "knowing")

    @property
    def abilities(self) -> frozenset[Ability]:
        return frozenset({Ability.GENERATE, Ability.SCORE})

    def respond(self, requests: Sequence[Request]) -> Iterator[tuple[Request, Answer]]:
        items = {item.id: item for item in self.plan.items}
        for request in requests:
            item = items[request.item]
            answer = self.plan.protocol.ideal_reply(item, request, item.gold, self.plan.asking)
            yield request, replace(answer, text="?") if item.index % 2 and not request.options else answer

    def close(self) -> None:
        """Nothing is held."""


@pytest.mark.parametrize(("name", "protocol"), PAIRS)
def test_every_form_of_report_can_be_written(name: str, protocol: str, tmp_path: Path) -> None:
    plan = make_plan(name, protocol=protocol, limit=2, conditions=["prompt:joy"] if name == "decisions" else [])
    assert execute(plan, Knowing(plan), tmp_path / "run").complete
    report = report_of(read_run(tmp_path / "run", Interval(replicates=10)))
    page, latex, out = unescape(run_html(report)), run_to_latex(report), io.StringIO()
    print_report(report, make_console(out, 80))
    for scores in report.scores.values():
        for table in scores.tables:
            assert table.title in page
            assert rf"\label{{tab:{re.sub('[^A-Za-z0-9]+', '-', table.id)}" in latex
    assert all(path.stat().st_size for path in write_csv(report, tmp_path / "csv"))
    assert all(path.read_text("utf-8").endswith("</svg>\n") for path in write_figures(report, tmp_path / "figures"))
