"""``affectlab compare``: two runs on the same items, pair by pair."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from affectlab.cli.common import AsJson, Replicates, print_json


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("compare", help="Compare two runs on the same items: paired differences with intervals and tests.")(
        compare
    )


def compare(
    run_a: Annotated[Path, typer.Argument(help="First run folder.")],
    run_b: Annotated[Path, typer.Argument(help="Second run folder; the same one to compare two of its conditions.")],
    condition_a: Annotated[str | None, typer.Option(help="Condition of the first, where it has several.")] = None,
    condition_b: Annotated[str | None, typer.Option(help="Condition of the second.")] = None,
    html: Annotated[Path | None, typer.Option(help="Also write an HTML page.")] = None,
    replicates: Replicates = 1000,
    seed: Annotated[int, typer.Option(help="Seed of resamples and swaps.", min=0)] = 0,
    as_json: AsJson = False,
) -> None:
    """Differences are the first run minus the second."""
    from affectlab.report.comparison import document_of
    from affectlab.report.html import document_html
    from affectlab.report.terminal import print_document
    from affectlab.runs import compare_runs
    from affectlab.runs.folder import writing
    from affectlab.stats.bootstrap import Interval

    found = compare_runs(run_a, run_b, (condition_a, condition_b), Interval(replicates=replicates, seed=seed))
    document = document_of(found)
    if html is not None:
        with writing(html):
            html.write_text(document_html(document), encoding="utf-8")
    if as_json:
        print_json(comparison_to_dict(found))
    else:
        print_document(document)


def comparison_to_dict(found: Any) -> dict[str, Any]:
    """What ``--json`` prints of a comparison."""
    return {
        "a": {"run": str(found.a.run.folder.path), "condition": found.a.condition, "model": found.a.name},
        "b": {"run": str(found.b.run.folder.path), "condition": found.b.condition, "model": found.b.name},
        "figures": [{**asdict(result), "p_adjusted": found.adjusted[result.name]} for result in found.results],
        "mcnemar": None if found.mcnemar is None else {**asdict(found.mcnemar), "detectable": found.mcnemar_detectable},
        "differs": {name: list(pair) for name, pair in found.differs.items()},
        "left_out": list(found.left_out),
        "interval": asdict(found.interval),
    }
