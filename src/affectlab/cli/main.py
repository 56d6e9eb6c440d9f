"""The ``affectlab`` command."""

from __future__ import annotations

import signal
import sys
from typing import Annotated

import typer

import affectlab
from affectlab.cli import (
    agreement,
    annotate,
    audit,
    compare,
    decide,
    games,
    items,
    lists,
    play,
    report,
    run,
    score,
    vectors,
)
from affectlab.cli.common import guarded

app = typer.Typer(
    name="affectlab",
    help="Emotion in language models: run benchmarks, compare runs, report honestly.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"affectlab {affectlab.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Options before the command; ``--debug`` is read by :func:`main`."""


run.add_to(app)
decide.add_to(app)
score.add_to(app)
report.add_to(app)
compare.add_to(app)
games.add_to(app)
play.add_to(app)
audit.add_to(app)
agreement.add_to(app)
annotate.add_to(app)
lists.add_to(app)
items.add_to(app)
vectors.add_to(app)


def main() -> None:
    """Entry point: runs a command and turns errors into one clear text and an exit code."""
    # A cluster's scheduler stops a job with SIGTERM: it ends as cleanly as Ctrl-C does.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(guarded(lambda: app(prog_name="affectlab"), debug="--debug" in sys.argv))
