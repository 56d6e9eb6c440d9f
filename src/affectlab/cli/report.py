"""``affectlab report``: tables and a self-contained HTML page from a run folder."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from affectlab.cli.common import AsJson, KeptReplicates, print_json
from affectlab.errors import UserError


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("report", help="Print a run's tables and write its HTML report.")(report)


def report(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    html: Annotated[
        Path | None, typer.Option(help="Where the page goes. Default: report.html in the run folder.")
    ] = None,
    csv: Annotated[Path | None, typer.Option(help="Also write each table as CSV into this folder.")] = None,
    latex: Annotated[
        Path | None, typer.Option(help="Also write the tables as LaTeX (booktabs) into this file.")
    ] = None,
    figures: Annotated[
        Path | None, typer.Option(help="Also write the figures as SVG into this folder, in fixed colours for print.")
    ] = None,
    replicates: KeptReplicates = None,
    as_json: AsJson = False,
) -> None:
    """Score the run from its responses, print it, and write the page."""
    from affectlab.cli.run import result_to_dict
    from affectlab.report.export import run_to_latex, write_csv, write_figures
    from affectlab.report.from_run import report_of
    from affectlab.report.html import run_html
    from affectlab.report.terminal import print_report
    from affectlab.runs import read_run
    from affectlab.runs.folder import writing
    from affectlab.runs.score import last_interval

    page = html or run / "report.html"
    place = page if page.exists() else run
    if html is None and place.exists() and not os.access(place, os.W_OK):
        raise UserError(f"{place} is read-only: say where the page goes with --html FILE.")
    scored = read_run(run, None if replicates is None else replace(last_interval(run), replicates=replicates))
    shown = report_of(scored)
    with writing(page):
        page.write_text(run_html(shown), encoding="utf-8")
    if csv is not None:
        with writing(csv):
            write_csv(shown, csv)
    if figures is not None:
        with writing(figures):
            write_figures(shown, figures)
    if latex is not None:
        with writing(latex):
            latex.write_text(run_to_latex(shown), encoding="utf-8")
    if as_json:
        print_json(result_to_dict(scored))
    else:
        print_report(shown)
    print(f"\nHTML report: {page}", file=sys.stderr if as_json else sys.stdout)
