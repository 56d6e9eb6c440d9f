"""What is made of a study, written into its folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from affectlab.annotate.answers import Answer, BadFieldError, answer_of, answers_to_jsonl, read_answers
from affectlab.annotate.assist.friction import Friction, friction
from affectlab.annotate.assist.routing import Case
from affectlab.annotate.assist.study import (
    ADJUDICATOR,
    MODELS,
    Study,
    fitting,
    gold_of,
    model_answers,
    people_csv,
    read_cases,
    routes_jsonl,
    with_people,
    with_votes,
)
from affectlab.annotate.exchange.gold import Settled, gold_to_jsonl
from affectlab.errors import UserError
from affectlab.items import read_rows
from affectlab.metrics.scores import dumps
from affectlab.runs.folder import writing
from affectlab.stats.bootstrap import USUAL, Interval

ASKED = "people.csv"
"""What people are asked; may be filled in where it lies."""

KEPT = "people.jsonl"
"""All that people answered."""


@dataclass(frozen=True)
class Results:
    """A study as it stands.

    Attributes:
        cases: Every slot.
        gold: The label of each and where it is from.
        friction: The report.
    """

    cases: tuple[Case, ...]
    gold: tuple[Settled, ...]
    friction: Friction


def results_of(
    study: Study, people: Sequence[Answer] = (), how: Interval = USUAL, notes: Sequence[str] = ()
) -> Results:
    """What the runs in the folder and people's answers come to. No model is needed.

    Raises:
        UserError: When a run is missing or broken, or people's answers do not fit.
    """
    labelled = with_votes(study, read_cases(study))
    answers = fitting(study, labelled, people)
    cases = with_people(labelled, answers)
    asked = {(one.item, one.slot) for one in answers}
    split = sum(case.human is None for case in cases if (case.item, case.slot) in asked)
    said = [*notes, *([f"On {split} slots people differ without a majority; these wait on."] if split else [])]
    report = friction(cases, how, usage=_usage(study), notes=said)
    return Results(tuple(cases), tuple(gold_of(study, cases, answers)), report)


def people_so_far(study: Study, given: Sequence[Answer] = ()) -> list[Answer]:
    """People's answers that the folder holds, those filled into its ``people.csv``, and those given now.

    Of several answers of one person to one slot the newest counts. Nothing that people did is ever lost to a rerun.

    Raises:
        UserError: When a filled row of ``people.csv`` is no answer.
    """
    kept = study.folder / KEPT
    stored = read_answers(str(kept)).answers if kept.exists() else ()
    newest = {(one.item, one.slot, one.annotator): one for one in (*stored, *_filled_in(study), *given)}
    return list(newest.values())


def _filled_in(study: Study) -> list[Answer]:
    path = study.folder / ASKED
    if not path.exists():
        return []
    answers = []
    for row in read_rows(str(path)):
        if row.data.get("value"):
            try:
                answers.append(answer_of(row.data))
            except BadFieldError as error:
                raise UserError(f"{path}, {row.place}: {error}") from error
    return answers


def _usage(study: Study) -> dict[str, Mapping[str, Any]]:
    """Requests, tokens, cost and seconds of each run, over all its sessions."""
    usage: dict[str, Mapping[str, Any]] = {}
    for name in (*MODELS, ADJUDICATOR):
        folder = study.run_folder(name)
        if not folder.exists():
            continue
        manifest = folder.manifest()
        sessions = manifest["sessions"]
        costs = [one["usage"]["cost"] for one in sessions if one.get("usage") and one["usage"]["cost"] is not None]
        usage[name] = {
            "model": manifest["model"]["name"],
            "requests": sum(one.get("answered") or 0 for one in sessions),
            "prompt tokens": sum((one.get("usage") or {}).get("prompt_tokens", 0) for one in sessions),
            "completion tokens": sum((one.get("usage") or {}).get("completion_tokens", 0) for one in sessions),
            "cost": sum(costs) if costs else None,
            "seconds": round(sum(one.get("seconds") or 0.0 for one in sessions), 1),
        }
    return usage


def write_results(study: Study, found: Results, people: Sequence[Answer] = ()) -> None:
    """Write what was made of a study beside its runs.

    Raises:
        UserError: When the folder cannot be written.
        WorldError: When the disk fails.
    """
    files = {
        "answers.jsonl": answers_to_jsonl([*model_answers(study, found.cases), *people]),
        "routes.jsonl": routes_jsonl(found.cases),
        "gold.jsonl": gold_to_jsonl(found.gold),
        "friction.json": dumps(found.friction.to_dict()) + "\n",
        **({KEPT: answers_to_jsonl(people)} if people else {}),
        **({ASKED: people_csv(study, found.cases)} if found.friction.total.outcomes["waiting"] else {}),
    }
    with writing(study.folder):
        for name, text in files.items():
            (study.folder / name).write_text(text, encoding="utf-8", newline="")
        if ASKED not in files:
            (study.folder / ASKED).unlink(missing_ok=True)
