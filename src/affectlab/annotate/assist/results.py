"""What is made of a study, written into its folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from affectlab.annotate.answers import Answer, answers_to_jsonl
from affectlab.annotate.assist.friction import Friction, friction
from affectlab.annotate.assist.people import ASKED, KEPT, People, fitting, keep_replaced, people_csv
from affectlab.annotate.assist.routing import Case
from affectlab.annotate.assist.study import (
    ADJUDICATOR,
    MODELS,
    Study,
    gold_of,
    model_answers,
    read_cases,
    routes_jsonl,
    with_people,
    with_votes,
)
from affectlab.annotate.exchange.gold import Settled, gold_to_jsonl
from affectlab.metrics.scores import dumps
from affectlab.runs.folder import writing
from affectlab.stats.bootstrap import USUAL, Interval


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
    study: Study, people: Sequence[Answer] | People = (), how: Interval = USUAL, notes: Sequence[str] = ()
) -> Results:
    """What the runs in the folder and people's answers come to. No model is needed.

    Raises:
        UserError: When a run is missing or broken, or people's answers do not fit.
    """
    labelled = with_votes(study, read_cases(study))
    given = people if isinstance(people, People) else People(tuple(people))
    answers = fitting(study, labelled, given.answers)
    cases = with_people(labelled, answers)
    asked = {(one.item, one.slot) for one in answers}
    split = sum(case.human is None for case in cases if (case.item, case.slot) in asked)
    said = [
        *notes,
        *given.notes,
        *([f"On {split} slots people differ without a majority; these wait on."] if split else []),
    ]
    report = friction(cases, how, usage=_usage(study), notes=said)
    return Results(tuple(cases), tuple(gold_of(study, cases, answers)), report)


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


def write_results(study: Study, found: Results, people: People | None = None) -> None:
    """Write what was made of a study beside its runs.

    Raises:
        UserError: When the folder cannot be written.
        WorldError: When the disk fails.
    """
    said = people or People()
    files = {
        "answers.jsonl": answers_to_jsonl([*model_answers(study, found.cases), *said.answers]),
        "routes.jsonl": routes_jsonl(found.cases),
        "gold.jsonl": gold_to_jsonl(found.gold),
        "friction.json": dumps(found.friction.to_dict()) + "\n",
        **({KEPT: answers_to_jsonl(said.answers)} if said.answers else {}),
        **({ASKED: people_csv(study, found.cases)} if found.friction.total.outcomes["waiting"] else {}),
    }
    with writing(study.folder):
        if said.replaced:
            keep_replaced(study.folder, said.replaced)
        for name, text in files.items():
            (study.folder / name).write_text(text, encoding="utf-8", newline="")
        if ASKED not in files:
            (study.folder / ASKED).unlink(missing_ok=True)
