"""``affectlab run``: put a benchmark to a model."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from affectlab.cli.common import (
    INTERRUPTED,
    AsJson,
    BaseUrl,
    Device,
    Dtype,
    Replicates,
    Threads,
    Vectors,
    pairs,
    print_json,
)
from affectlab.cli.settings import TakesSettings
from affectlab.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable

    from affectlab.models import ModelSettings
    from affectlab.runs import Plan, Progress, Session


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command(
        "run",
        help="Put a benchmark to a model. Stop with Ctrl-C at any time; the same command goes on where it stopped.",
        cls=TakesSettings,
    )(run)


def run(
    benchmark: Annotated[
        str, typer.Argument(help="Which benchmark; `affectlab benchmarks` lists them.", metavar="BENCHMARK")
    ],
    model: Annotated[
        str, typer.Option(help="Which model: smollm2, gguf:PATH, hf:ORG/NAME, openai:NAME, scripted:FILE …")
    ],
    out: Annotated[Path, typer.Option(help="Run folder to make or go on with.")],
    data: Annotated[
        str | None,
        typer.Option(help="Data file (.jsonl, .json, .csv, .tsv) or hub:NAME. Default: the bundled sample."),
    ] = None,
    field_map: Annotated[
        list[str] | None,
        typer.Option("--map", help="Our field name = the file's column. Repeatable.", metavar="FIELD=COLUMN"),
    ] = None,
    protocol: Annotated[str | None, typer.Option(help="How to ask. Default: the paper's.")] = None,
    limit: Annotated[int | None, typer.Option(help="Ask only the first N items.", min=1)] = None,
    order: Annotated[str, typer.Option(help="Option order: rotate, fixed, or all cyclic orders.")] = "rotate",
    seed: Annotated[int, typer.Option(help="Seed of everything drawn.", min=0)] = 0,
    temperature: Annotated[
        float | None, typer.Option(help="0 for greedy. Default: the protocol's, 0 unless it draws.", min=0.0)
    ] = None,
    repeats: Annotated[int, typer.Option(help="Ask everything this often (needs a temperature).", min=1)] = 1,
    condition: Annotated[
        list[str] | None,
        typer.Option(
            help="A state to put the model in besides neutral: anger@1.0, random@1.0:seed=3, prompt:anger … All "
            "go through the model together. Repeatable."
        ),
    ] = None,
    vectors: Vectors = None,
    max_tokens: Annotated[int | None, typer.Option(help="Most new tokens. Default: the protocol's.", min=1)] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="A setting of the benchmark; --NAME VALUE does the same. `affectlab benchmarks BENCHMARK` lists them. "
            "Repeatable.",
            metavar="NAME=VALUE",
        ),
    ] = None,
    base_url: BaseUrl = None,
    concurrency: Annotated[int, typer.Option(help="Remote calls in flight.", min=1)] = 16,
    timeout: Annotated[float, typer.Option(help="Seconds a remote call may take.", min=0.1)] = 120.0,
    retries: Annotated[int, typer.Option(help="Further attempts of a failed remote call.", min=0)] = 5,
    device: Device = "auto",
    dtype: Dtype = "float32",
    threads: Threads = None,
    batch_tokens: Annotated[int, typer.Option(help="Token budget of a local batch.", min=1)] = 8192,
    replicates: Replicates = 1000,
    as_json: AsJson = False,
) -> None:
    """Ask what is missing, score, and print the table."""
    from affectlab.benchmarks.base import Asking
    from affectlab.models import ModelSettings
    from affectlab.runs import make_plan
    from affectlab.runs.outside import or_copies

    plan = make_plan(
        benchmark,
        protocol=protocol,
        data=data,
        fields=pairs(field_map or [], "--map"),
        limit=limit,
        asking=Asking(
            order=order,  # type: ignore[arg-type]
            seed=seed,
            temperature=temperature,
            max_tokens=max_tokens,
            options=or_copies(benchmark, pairs(settings or [], "--set"), out),
        ),
        conditions=condition or (),
        repeats=repeats,
    )
    if vectors is not None and not plan.steered:
        raise UserError("--vectors goes with a --condition that applies one, such as anger@1.0.")
    if plan.ignored:
        print(f"Columns not used: {', '.join(plan.ignored)}.", file=sys.stderr)
    model_settings = ModelSettings(
        base_url=base_url,
        concurrency=concurrency,
        timeout_s=timeout,
        retries=retries,
        device=device,
        dtype=dtype,  # type: ignore[arg-type]
        threads=threads,
        batch_tokens=batch_tokens,
        vectors=vectors,
    )
    raise typer.Exit(carry_out(plan, model, model_settings, out, replicates, as_json=as_json))


def carry_out(
    plan: Plan, model: str, settings: ModelSettings, out: Path, replicates: int, *, as_json: bool = False
) -> int:
    """Ask what is missing of a plan, score, and print; the exit code."""
    from affectlab.models import open_model
    from affectlab.runs import execute, score_run
    from affectlab.runs.manifest import command_line
    from affectlab.stats.bootstrap import Interval

    asked = open_model(model, settings)
    try:
        with progress_bar(f"{plan.benchmark.name} × {asked.card.name}") as show:
            session = execute(plan, asked, out, show, command_line())
    finally:
        asked.close()
    code = tell(session, out)
    if session.found + session.answered == 0:
        return code
    scored = score_run(out, Interval(replicates=replicates))
    if as_json:
        print_json(result_to_dict(scored, session))
    else:
        from affectlab.report.from_run import report_of
        from affectlab.report.terminal import print_report

        print_report(report_of(scored))
        print(f"\nRun folder: {out}\nHTML report: affectlab report {out}")
    return code


@contextmanager
def progress_bar(title: str) -> Iterator[Callable[[Progress], None]]:
    """A bar with rate and time left on standard error; where that is not a terminal, a line every half minute."""
    from affectlab.cli.progress import bar, now_and_then

    with bar() as shown:
        task = shown.add_task(title, total=None)
        say = now_and_then(shown)

        def show(progress: Progress) -> None:
            failed = f" ({progress.failed} failed)" if progress.failed else ""
            shown.update(task, completed=progress.done, total=progress.total, description=title + failed)
            say(f"{title}{failed}: {progress.done} of {progress.total}")

        yield show


def tell(session: Session, out: Path) -> int:
    """Say on standard error how the session ended; the exit code."""
    from affectlab.runs.manifest import command_line

    if session.torn:
        print("One half-written response (the process was killed) was dropped and asked again.", file=sys.stderr)
    if session.interrupted:
        print(
            f"Stopped; {session.found + session.answered} responses are kept in {out}. To go on:\n  {command_line()}",
            file=sys.stderr,
        )
        return INTERRUPTED
    if session.failed:
        shown = "\n".join(f"  {count} × {error}" for error, count in session.errors[:5])
        print(
            f"{session.failed} of {session.asked} requests got no response:\n{shown}\n"
            f"All others are kept in {out}. The same command asks the missing ones again:\n  {command_line()}",
            file=sys.stderr,
        )
        return 1
    return 0


def result_to_dict(scored: Any, session: Session | None = None) -> dict[str, Any]:
    """What ``--json`` prints of a run."""
    document = {
        "run": str(scored.folder.path),
        "manifest": dict(scored.manifest),
        "requests": {"planned": scored.planned, "answered": scored.answered},
        "scores": {condition: scores.to_dict() for condition, scores in scored.scores.items()},
    }
    if session is not None:
        document["session"] = {
            "asked": session.asked,
            "answered": session.answered,
            "failed": session.failed,
            "found": session.found,
            "torn": session.torn,
            "interrupted": session.interrupted,
        }
    return document
