"""``affectlab annotate assist``: two models label, an adjudicator and people settle, friction is reported."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from affectlab.cli.common import AsJson, Replicates, pairs, print_json
from affectlab.errors import UserError

if TYPE_CHECKING:
    from affectlab.annotate.assist.study import Study
    from affectlab.annotate.exchange.gold import Settled
    from affectlab.models import ModelSettings
    from affectlab.models.base import ModelCard
    from affectlab.runs import Plan


def add_to(group: typer.Typer) -> None:
    """Register the command among those of ``affectlab annotate``."""
    group.command(
        "assist",
        help="Have two models label every slot; agreements are kept and audited, disagreements settled by people or an "
        "adjudicator that sees both orders. The same command goes on where it stopped.",
    )(assist)


def assist(
    benchmark: Annotated[str, typer.Argument(help="Whose task and labels.", metavar="BENCHMARK")],
    model: Annotated[list[str], typer.Option(help="A model that labels; give it twice, for two models.")],
    out: Annotated[Path, typer.Option(help="Folder to make or go on with.")],
    data: Annotated[str | None, typer.Option(help="Items to label. Default: the bundled sample.")] = None,
    field_map: Annotated[
        list[str] | None,
        typer.Option("--map", help="Our field name = the file's column. Repeatable.", metavar="FIELD=COLUMN"),
    ] = None,
    adjudicator: Annotated[
        str | None, typer.Option(help="A model that decides disagreements. Default: people decide them.")
    ] = None,
    people: Annotated[
        list[str] | None,
        typer.Option(
            help="Answers of people in long form; what is filled into OUT/people.csv is read as well. Repeatable."
        ),
    ] = None,
    audit: Annotated[
        float, typer.Option(help="Share of all slots that people see whatever models say.", min=0.0, max=1.0)
    ] = 0.1,
    slot: Annotated[list[str] | None, typer.Option(help="Only this slot. Repeatable.")] = None,
    protocol: Annotated[str | None, typer.Option(help="How to ask. Default: the paper's.")] = None,
    limit: Annotated[int | None, typer.Option(help="Only the first N items.", min=1)] = None,
    seed: Annotated[int, typer.Option(help="Seed of the audit and of everything drawn.", min=0)] = 0,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="A setting of the benchmark. Repeatable.", metavar="NAME=VALUE"),
    ] = None,
    base_url: Annotated[str | None, typer.Option(help="Endpoint of openai: models.")] = None,
    concurrency: Annotated[int, typer.Option(help="Remote calls in flight.", min=1)] = 16,
    export: Annotated[
        Path | None, typer.Option(help="Also write the labels as the benchmark's data (JSON lines), for affectlab run.")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Refuse --export while anything waits for people.")] = False,
    html: Annotated[Path | None, typer.Option(help="Also write the report as an HTML page.")] = None,
    replicates: Replicates = 1000,
    as_json: AsJson = False,
) -> None:
    """Ask what is missing, settle what can be, and print the friction report."""
    from affectlab.annotate.answer_files import read_answers
    from affectlab.annotate.assist.people import ASKED, people_so_far
    from affectlab.annotate.assist.results import results_of, write_results
    from affectlab.annotate.assist.routing import Audit
    from affectlab.annotate.assist.study import ADJUDICATOR, MODELS, check_cards, make_study, questions, read_cases
    from affectlab.benchmarks.base import Asking
    from affectlab.models import ModelSettings
    from affectlab.report.friction import document_of
    from affectlab.report.html import document_html
    from affectlab.report.terminal import print_document
    from affectlab.runs import make_plan
    from affectlab.runs.folder import writing
    from affectlab.stats.bootstrap import Interval

    if len(model) != 2:
        raise UserError(f"Two models are needed, each by its own --model; {len(model)} given.")
    if (strict or export) and data is None:
        raise UserError("--export fills in the file that --data names; name one.")
    if export is not None and export.resolve() == Path(str(data)).expanduser().resolve():
        raise UserError(f"--export {export} is the file that --data names; name another one.")
    fields = pairs(field_map or [], "--map")
    asking = Asking(seed=seed, options=pairs(settings or [], "--set"))
    plan = make_plan(benchmark, protocol=protocol, data=data, fields=fields, limit=limit, asking=asking)
    study = make_study(plan, out, Audit(audit, seed), slot or ())
    given = [read_answers(file).answers for file in people or []]
    if model[0] == model[1]:
        raise UserError(f"Both models are {model[0]}; two different ones are needed, or their agreement says nothing.")
    settings_of = ModelSettings(base_url=base_url, concurrency=concurrency)
    cards = [_ask(study, study.plan, name, spec, settings_of) for name, spec in zip(MODELS, model, strict=True)]
    asked = questions(study, read_cases(study))
    judge = _ask(study, asked, ADJUDICATOR, adjudicator, settings_of) if adjudicator and asked is not None else None
    notes = check_cards(cards[0], cards[1], judge)
    answers = people_so_far(study, given)
    found = results_of(study, answers, Interval(replicates=replicates), notes)
    write_results(study, found, answers)
    document = document_of(str(out), found.friction)
    if html is not None:
        with writing(html):
            html.write_text(document_html(document), encoding="utf-8")
    if as_json:
        print_json(found.friction.to_dict())
    else:
        print_document(document)
    waiting = found.friction.total.outcomes["waiting"]
    if waiting:
        print(
            f"{waiting} slots wait for people: fill in {out / ASKED} and run this command again, or have the items "
            "labelled elsewhere and give the answers with --people.",
            file=sys.stderr,
        )
    if export is not None:
        _export(benchmark, str(data), fields, study, export, strict=strict, gold=list(found.gold))


def _ask(study: Study, plan: Plan, name: str, spec: str, settings: ModelSettings) -> ModelCard:
    """Ask one model what is missing; ends the command when something stays unanswered."""
    from affectlab.cli.run import progress_bar, tell
    from affectlab.models import open_model
    from affectlab.runs import execute
    from affectlab.runs.manifest import command_line

    folder = study.folder / name
    model = open_model(spec, settings)
    try:
        with progress_bar(f"{name}: {model.card.name}") as show:
            session = execute(plan, model, folder, show, command_line())
    finally:
        model.close()
    if code := tell(session, folder):
        raise typer.Exit(code)
    return model.card


def _export(
    benchmark: str, data: str, fields: dict[str, str], study: Study, path: Path, *, strict: bool, gold: list[Settled]
) -> None:
    from affectlab.annotate.exchange.benchmark import fill
    from affectlab.runs.folder import writing

    filled = fill(benchmark, data, gold, fields, strict=strict)
    with writing(path):
        path.write_text(filled.to_jsonl(), encoding="utf-8")
    left = f" {len(filled.without)} items without a label for every slot are left out." if filled.without else ""
    print(f"{path}: {len(filled.rows)} items with labels.{left}", file=sys.stderr)
