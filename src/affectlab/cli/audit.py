"""``affectlab audit``: stimuli, items and thoughts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from affectlab.cli.common import (
    AsJson,
    BaseUrl,
    BatchTokens,
    Device,
    Replicates,
    Threads,
    pairs,
    print_json,
    tables_to_dict,
)


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    group = typer.Typer(
        help="Audits: does style tell emotions apart, which items to keep, do thoughts give moved decisions away.",
        no_args_is_help=True,
    )
    group.command("stimuli", help="Can emotions be told from part-of-speech ratios alone? Exit code 1 if so.")(stimuli)
    group.command("items", help="Item response over runs of several models: which items of each role to keep.")(items)
    group.command("thoughts", help="Flag moved decisions by their reasoning, ask again, compare with random flags.")(
        thoughts
    )
    app.add_typer(group, name="audit")


def stimuli(
    file: Annotated[
        str | None, typer.Argument(help="Texts with columns text and emotion. Default: the bundled ones.")
    ] = None,
    field_map: Annotated[
        list[str] | None,
        typer.Option("--map", help="Our column = the file's. Repeatable.", metavar="FIELD=COLUMN"),
    ] = None,
    emotions: Annotated[
        str | None, typer.Option(help="Labels to take, joined by commas. Default: the six basic ones.")
    ] = None,
    permutations: Annotated[int, typer.Option(help="Relabellings behind the permutation p.", min=1)] = 99,
    seed: Annotated[int, typer.Option(help="Seed of folds, forests and relabellings.", min=0)] = 0,
    as_json: AsJson = False,
) -> None:
    """Nested cross-validation of a random forest on eight ratios, against chance."""
    from affectlab.audits.stimuli import audit_stimuli, audit_table, feature_table
    from affectlab.cli.progress import steps
    from affectlab.report.model import Document, Section
    from affectlab.report.terminal import print_document
    from affectlab.steering.stimuli import EMOTIONS, load_stimuli

    wanted = EMOTIONS if emotions is None else [one.strip() for one in emotions.split(",")]
    loaded = load_stimuli(file, pairs(field_map or [], "--map"), wanted)
    with steps(lines=True) as told:
        found = audit_stimuli(loaded, permutations=permutations, seed=seed, on_step=told)
    tables = (audit_table(found), feature_table(found))
    left = sum(loaded.left_out.values())
    notes = (f"{left} texts with other labels are left out.",) if left else ()
    if as_json:
        print_json({"passed": found.passed, "verdict": found.words, **tables_to_dict(tables, notes)})
    else:
        print_document(Document(f"Style of {loaded.source}", found.words, (Section("Audit", notes, tables),)))
    raise typer.Exit(0 if found.passed else 1)


def items(
    runs: Annotated[list[Path], typer.Argument(help="Runs of the decisions benchmark, a model each.")],
    keep: Annotated[int, typer.Option(help="Items to keep of each role at most.", min=2)] = 12,
    chains: Annotated[int, typer.Option(help="Chains of the confirming fit.", min=2)] = 4,
    draws: Annotated[int, typer.Option(help="Draws of each chain, and as many to warm up.", min=4)] = 1000,
    resamples: Annotated[int, typer.Option(help="Samples of respondents.", min=2)] = 20,
    seed: Annotated[int, typer.Option(help="Seed of everything drawn.", min=0)] = 0,
    as_json: AsJson = False,
) -> None:
    """Screen, choose, confirm."""
    from affectlab.audits.items import ability_table, audit_items, family_table, item_table, stability_table
    from affectlab.audits.items import notes as notes_on
    from affectlab.cli.progress import steps
    from affectlab.report.model import Document, Section
    from affectlab.report.terminal import print_document
    from affectlab.stats.irt import Sampler

    with steps(lines=True) as told:
        found = audit_items(runs, keep, Sampler(chains, draws, draws, seed), resamples, seed, told)
    families = found.families
    # Nothing was confirmed where too few items were good: then there are no abilities.
    abilities = (ability_table(families),) if any(one.confirmed for one in families) else ()
    tables = (family_table(families), stability_table(families), *abilities, item_table(families))
    notes = notes_on(found)
    if as_json:
        kept = {one.role: list(one.selected.kept) for one in families}
        print_json({"kept": kept, **tables_to_dict(tables, notes)})
    else:
        most = len({name for one in families for name in one.pool.respondents})
        title = (
            f"Items of {len(families)} role{'s' if len(families) > 1 else ''}, from neutral answers of {most} models"
        )
        print_document(Document(title, "", (Section("Item response", notes, tables),)))


def thoughts(
    run: Annotated[Path, typer.Argument(help="Run of `affectlab decide` with --cot or --thinking.")],
    model: Annotated[str, typer.Option(help="The model of that run.")],
    out: Annotated[Path, typer.Option(help="Folder for the second turns; the same command goes on there.")],
    precision: Annotated[float, typer.Option(help="Share of flagged decisions that should have moved.")] = 0.8,
    vectors: Annotated[Path | None, typer.Option(help="Emotion vectors of the run, if not the usual ones.")] = None,
    base_url: BaseUrl = None,
    device: Device = "auto",
    dtype: Annotated[str | None, typer.Option(help="Type of a local model's weights. Default: the run's.")] = None,
    threads: Threads = None,
    batch_tokens: BatchTokens = 8192,
    seed: Annotated[int, typer.Option(help="Seed of folds and of the random audit.", min=0)] = 0,
    replicates: Replicates = 1000,
    as_json: AsJson = False,
) -> None:
    """Nested cross-validation by items, a second turn for what is flagged, drift before and after."""
    from affectlab.audits.reflection import audit_tables, audit_thoughts
    from affectlab.audits.runs import read_decisions
    from affectlab.cli.progress import steps
    from affectlab.models import ModelSettings, open_model
    from affectlab.report.model import Document, Section
    from affectlab.report.terminal import print_document
    from affectlab.runs.manifest import command_line
    from affectlab.stats.bootstrap import Interval

    (scored,) = read_decisions([run])
    settings = ModelSettings(
        base_url=base_url,
        device=device,
        dtype=dtype or scored.manifest["model"]["identity"].get("dtype", "float32"),  # type: ignore[arg-type]
        threads=threads,
        batch_tokens=batch_tokens,
        vectors=vectors,
    )
    asked = open_model(model, settings)
    try:
        with steps(lines=True) as told:
            found = audit_thoughts(scored, asked, out, precision, seed, command_line(), told)
    finally:
        asked.close()
    tables = audit_tables(found, Interval(replicates=replicates, seed=seed))
    if as_json:
        print_json(tables_to_dict(tables, ()))
    else:
        print_document(Document(f"Thought audit of {run}", "", (Section("Audit", (), tables),)))
