"""``affectlab decide`` and ``affectlab drift``: do decisions move under emotions, and more than under controls?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from affectlab.cli.common import (
    AsJson,
    BaseUrl,
    BatchTokens,
    Device,
    Dtype,
    Replicates,
    Threads,
    Vectors,
    pairs,
    print_json,
    tables_to_dict,
)
from affectlab.errors import UserError

PAPER_STRENGTHS = "0.6,0.8,1.0,1.5"


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.command(
        "decide",
        help="Put decisions in games to a model under emotions and their controls, and measure how far they move.",
    )(decide)
    app.command(
        "drift",
        help="Measures over finished `decide` runs: several models in one map, with reasoning against without, "
        "likelihood against choice.",
    )(drift)


def decide(
    model: Annotated[str, typer.Option(help="Which model: smollm2, gguf:PATH, hf:ORG/NAME, openai:NAME …")],
    out: Annotated[Path, typer.Option(help="Run folder to make or go on with.")],
    items: Annotated[str | None, typer.Option(help="Decisions file. Default: the bundled sample.")] = None,
    field_map: Annotated[
        list[str] | None,
        typer.Option("--map", help="Our field name = the file's column. Repeatable.", metavar="FIELD=COLUMN"),
    ] = None,
    emotions: Annotated[str, typer.Option(help="all, or names joined by commas.")] = "all",
    alpha: Annotated[
        str, typer.Option(help="Strengths of the emotion vectors, joined by commas; none for no vectors.")
    ] = PAPER_STRENGTHS,
    scale: Annotated[
        str, typer.Option(help="What strengths count in: unit (the paper's), relative, raw or kl.")
    ] = "unit",
    layers: Annotated[
        str | None, typer.Option(help="Layers steered: early, middle, late, all, best, or 21-23. Default: middle.")
    ] = None,
    by: Annotated[
        str, typer.Option(help="choice (greedy generation) or likelihood (of the option letters).")
    ] = "choice",
    cot: Annotated[bool, typer.Option("--cot", help="Ask for reasoning before the answer.")] = False,
    thinking: Annotated[bool, typer.Option("--thinking", help="Leave room for a model that thinks first.")] = False,
    random_control: Annotated[
        int, typer.Option(help="Random vectors of the same norm at every strength: this many.", min=0)
    ] = 0,
    kl_control: Annotated[
        int, typer.Option(help="Random vectors that move plain text as far, at every strength: this many.", min=0)
    ] = 0,
    permuted_control: Annotated[
        int, typer.Option(help="Vectors of shuffled labels, for every emotion and strength: this many.", min=0)
    ] = 0,
    prompt_control: Annotated[
        bool, typer.Option("--prompt-control", help="Also tell the model each emotion in words.")
    ] = False,
    repeats: Annotated[int, typer.Option(help="Ask everything this often (needs a temperature).", min=1)] = 1,
    temperature: Annotated[float, typer.Option(help="0 for greedy.", min=0.0)] = 0.0,
    limit: Annotated[int | None, typer.Option(help="Ask only the first N items.", min=1)] = None,
    order: Annotated[str, typer.Option(help="Option order: rotate, fixed, or all cyclic orders.")] = "rotate",
    seed: Annotated[int, typer.Option(help="Seed of everything drawn.", min=0)] = 0,
    vectors: Vectors = None,
    lexicon: Annotated[Path | None, typer.Option(help="TOML file of affective words by emotion.")] = None,
    first_move: Annotated[
        str | None,
        typer.Option(
            help="What second movers of the authors' records are told that the first chose: low, medium, high."
        ),
    ] = None,
    base_url: BaseUrl = None,
    device: Device = "auto",
    dtype: Dtype = "float32",
    threads: Threads = None,
    batch_tokens: BatchTokens = 8192,
    max_tokens: Annotated[int | None, typer.Option(help="Most new tokens. Default: the protocol's.", min=1)] = None,
    replicates: Replicates = 1000,
    as_json: AsJson = False,
) -> None:
    """Plan neutral, every emotion at every strength and the controls as one run; ask, score, print."""
    from affectlab.benchmarks.base import Asking
    from affectlab.cli.run import carry_out
    from affectlab.models import ModelSettings
    from affectlab.runs import RunFolder, make_plan
    from affectlab.runs.outside import or_copies

    given = {"lexicon": lexicon, "first_move": first_move}
    plan = make_plan(
        "decisions",
        protocol=_protocol(by, cot=cot, thinking=thinking),
        data=items,
        fields=pairs(field_map or [], "--map"),
        limit=limit,
        asking=Asking(
            order=order,  # type: ignore[arg-type]
            seed=seed,
            temperature=temperature,
            max_tokens=max_tokens,
            options=or_copies("decisions", {name: str(one) for name, one in given.items() if one is not None}, out),
        ),
        conditions=conditions_of(
            emotions,
            alpha,
            Controls(random_control, kl_control, permuted_control, prompt_control),
            ("" if scale == "unit" else f":{scale}") + (f":layers={layers}" if layers else ""),
        ),
        repeats=repeats,
    )
    if vectors is not None and not plan.steered:
        raise UserError("--vectors goes with strengths: --alpha none applies no vector.")
    if vectors is not None and not vectors.is_file() and not RunFolder.at(out).vectors_path.is_file():
        raise UserError(f"--vectors {vectors}: there is no such file.")
    settings = ModelSettings(
        base_url=base_url,
        device=device,
        dtype=dtype,  # type: ignore[arg-type]
        threads=threads,
        batch_tokens=batch_tokens,
        vectors=vectors,
    )
    raise typer.Exit(carry_out(plan, model, settings, out, replicates, as_json=as_json))


def _protocol(by: str, *, cot: bool, thinking: bool) -> str:
    if by not in ("choice", "likelihood"):
        raise UserError(f"--by {by}: expected choice or likelihood.")
    if cot and thinking:
        raise UserError("--cot asks for reasoning, --thinking leaves it to the model: choose one.")
    if by == "likelihood" and (cot or thinking):
        raise UserError("--by likelihood scores the options without generating: leave --cot and --thinking out.")
    return "cot" if cot else "thinking" if thinking else by


@dataclass(frozen=True, slots=True)
class Controls:
    """What stands beside emotion vectors.

    Attributes:
        random: Random vectors of the same norm at every strength.
        kl_random: Random vectors that move plain text as far, at every strength.
        permuted: Vectors of shuffled labels for every emotion and strength.
        prompts: Whether each emotion is also told in words.
    """

    random: int = 0
    kl_random: int = 0
    permuted: int = 0
    prompts: bool = False


def conditions_of(emotions: str, alpha: str, controls: Controls, how: str = "") -> list[str]:
    """Emotions by strengths, then control vectors by strengths, then prompts.

    Args:
        emotions: ``all``, or names joined by commas.
        alpha: Strengths joined by commas, or ``none``.
        controls: What stands beside them.
        how: How vectors are applied, as the end of a condition (``":relative:layers=21-23"``).

    Raises:
        UserError: When a strength is no number, an emotion is unknown, or nothing would be compared.
    """
    from affectlab.steering.stimuli import EMOTIONS, emotion_id

    typed = EMOTIONS if emotions == "all" else _listed(emotions)
    named = tuple(dict.fromkeys(map(emotion_id, typed)))
    if unknown := [one for one in typed if emotion_id(one) not in EMOTIONS]:
        raise UserError(f"--emotions {unknown[0]}: expected all, or some of {', '.join(EMOTIONS)}.")
    strengths = [] if alpha == "none" else list(_strengths(alpha))
    kinds = {
        "random": ("random", controls.random),
        "kl-random": ("kl", controls.kl_random),
        **{f"permuted:{emotion}": ("permuted", controls.permuted) for emotion in named},
    }
    if not strengths and (given := [option for option, count in kinds.values() if count]):
        raise UserError(f"--{given[0]}-control goes with strengths: name some with --alpha.")
    found = [f"{emotion}@{strength}{how}" for emotion in named for strength in strengths]
    found += [
        f"{source}@{strength}{how}:seed={seed}"
        for source, (_, count) in kinds.items()
        for strength in strengths
        for seed in range(count)
    ]
    found += [f"prompt:{emotion}" for emotion in named] if controls.prompts else []
    if not found:
        raise UserError("There is nothing to compare neutral with: give strengths by --alpha, or --prompt-control.")
    return found


def _listed(text: str) -> list[str]:
    return [one.strip() for one in text.split(",") if one.strip()]


def _strengths(alpha: str) -> Iterator[str]:
    for one in dict.fromkeys(_listed(alpha)):
        if not re.fullmatch(r"-?\d+(\.\d+)?", one):
            raise UserError(f"--alpha {one!r}: expected numbers joined by commas, such as {PAPER_STRENGTHS}, or none.")
        yield one


def drift(
    runs: Annotated[list[Path], typer.Argument(help="Folders of finished runs of the decisions benchmark.")],
    figures: Annotated[Path | None, typer.Option(help="Folder for the map and the curves as SVG.")] = None,
    html: Annotated[Path | None, typer.Option(help="Also write an HTML page.")] = None,
    items_parameters: Annotated[
        Path | None,
        typer.Option(
            help="What `affectlab audit items --json` printed: regress what reasoning adds on item difficulty and "
            "discrimination."
        ),
    ] = None,
    replicates: Replicates = 1000,
    seed: Annotated[int, typer.Option(help="Seed of resamples and swaps.", min=0)] = 0,
    as_json: AsJson = False,
) -> None:
    """Several models side by side; differences between runs of one model that only differ in how they were asked."""
    from affectlab.audits.drift import drift_of
    from affectlab.audits.parameters import read_parameters
    from affectlab.report.decision_figures import write_figures
    from affectlab.report.drift import document_of
    from affectlab.report.html import document_html
    from affectlab.report.terminal import print_document
    from affectlab.runs.folder import writing
    from affectlab.runs.manifest import command_line
    from affectlab.stats.bootstrap import Interval

    parameters = None if items_parameters is None else read_parameters(items_parameters)
    interval = Interval(replicates=replicates, seed=seed)
    found = drift_of(runs, interval, parameters)
    document = document_of(found, interval, command_line())
    if html is not None:
        with writing(html):
            html.write_text(document_html(document), encoding="utf-8")
    if figures is not None:
        with writing(figures):
            write_figures(found, figures)
    if as_json:
        tables = [table for section in document.sections for table in section.tables]
        print_json(tables_to_dict((*tables, found.cells), found.notes))
    else:
        print_document(document)
