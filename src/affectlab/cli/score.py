"""``affectlab score``: compute scores from stored responses, without a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from affectlab.cli.common import AS_LAST, AsJson, KeptReplicates, print_json
from affectlab.errors import UserError


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command(
        "score",
        help="Score a run folder again from its stored responses, or a predictions file. Needs no model.",
    )(score)


def score(
    path: Annotated[Path, typer.Argument(help="A run folder, or a predictions.jsonl.")],
    benchmark: Annotated[str | None, typer.Option(help="For a predictions file: its benchmark.")] = None,
    protocol: Annotated[str | None, typer.Option(help="For a predictions file: the protocol it came from.")] = None,
    replicates: KeptReplicates = None,
    seed: Annotated[int | None, typer.Option(help=f"Seed of the bootstrap. {AS_LAST}, else 0.", min=0)] = None,
    level: Annotated[
        float | None, typer.Option(help=f"Confidence level of the intervals. {AS_LAST}, else 0.95.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Read every stored response again and print the table."""
    from affectlab.cli.run import result_to_dict
    from affectlab.report.from_run import report_of
    from affectlab.report.terminal import print_report, print_scores
    from affectlab.runs import score_predictions, score_run
    from affectlab.runs.score import last_interval
    from affectlab.stats.bootstrap import Interval

    last = last_interval(path)
    interval = Interval(
        level=last.level if level is None else level,
        replicates=last.replicates if replicates is None else replicates,
        seed=last.seed if seed is None else seed,
    )
    if path.is_file():
        if benchmark is None:
            raise UserError(
                f"{path} is a file of predictions: say --benchmark, and --protocol unless it is the default."
            )
        from affectlab.benchmarks import open_benchmark

        chosen = protocol or next(iter(open_benchmark(benchmark).protocols))
        sheets = score_predictions(path, benchmark, chosen, interval)
        if as_json:
            print_json({condition: scores.to_dict() for condition, scores in sheets.items()})
        else:
            for condition, scores in sheets.items():
                print_scores(scores, condition if len(sheets) > 1 else "")
        return
    scored = score_run(path, interval)
    if as_json:
        print_json(result_to_dict(scored))
    else:
        print_report(report_of(scored))
