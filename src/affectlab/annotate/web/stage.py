"""Pages before and after the work: consent, instructions, questionnaires, training."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection
from starlette.responses import Response

from affectlab.annotate.design import Design, Questionnaire
from affectlab.annotate.slots import Slot, named
from affectlab.annotate.stages import (
    CONSENT,
    INSTRUCTIONS,
    STORY,
    TRAINING,
    mark,
    questionnaire,
    scores,
    stages_after,
    trained,
)
from affectlab.annotate.store import panels, people, project
from affectlab.annotate.units import Unit
from affectlab.annotate.values import checked, last, options_of, read_reply, tell
from affectlab.annotate.web import story
from affectlab.annotate.web.kept import STAGE, forget, kept
from affectlab.annotate.web.outdated import FIELD, is_outdated, renew
from affectlab.annotate.web.visit import Visit
from affectlab.annotate.web.work import form_pages, next_stage, slot_view


def stage(visit: Visit) -> Response:
    """One stage; only the one that is due."""
    name = visit.request.path_params["name"]
    with visit.site.store.write() as conn:
        people.lock_person(conn, visit.me.id)
        design = visit.site.design(conn)
        done = panels.stages_of(conn, visit.me.id)
        due = next_stage(conn, design, visit.me)
        if name != due and not (due is None and name in stages_after(design) and name not in done):
            return visit.go("/work")
        step = story.story(visit, conn, design) if name == STORY else _plain(visit, conn, design, name, done)
        if visit.request.method == "POST" and isinstance(step, Response) and step.status_code < 400:
            forget(visit, conn, f"{STAGE}:{name}")
    if isinstance(step, Response):
        return step
    assert design.story is not None
    return story.read_by_model(visit, design.story, step)


def _plain(
    visit: Visit, conn: Connection, design: Design, name: str, done: dict[str, list[dict[str, Any]]]
) -> Response:
    if name == TRAINING:
        return _training(visit, conn, design, done.get(TRAINING, []))
    asked = questionnaire(design, name)
    if asked is not None:
        return _questionnaire(visit, conn, design, asked, name)
    return _text(visit, conn, design, name, done.get(name, []))


def _text(visit: Visit, conn: Connection, design: Design, name: str, rounds: list[dict[str, Any]]) -> Response:
    again = _again(visit, design)
    if visit.request.method == "GET" or again:
        declined = bool(rounds) and not rounds[-1].get("agreed", True)
        return visit.page(f"{name}.html", 409 if again else 200, design=design, declined=declined, outdated=again)
    body: dict[str, Any] = {"version": design.version}
    if name == CONSENT:
        body["agreed"] = visit.field("agree") == "yes"
        if design.typing:
            people.set_preferences(conn, visit.me.id, typing=body["agreed"] and visit.field("typing") == "yes")
    else:
        assert name == INSTRUCTIONS
    panels.add_stage(conn, visit.me.id, name, body, visit.site.store.now())
    return visit.go("/work")


def _again(visit: Visit, design: Design) -> bool:
    """Whether a page was sent that was opened under another version of the design: it is shown as it is now."""
    return visit.request.method == "POST" and is_outdated(design, visit.form)


def _questionnaire(visit: Visit, conn: Connection, design: Design, asked: Questionnaire, name: str) -> Response:
    views = [slot_view(slot, None, visit.language) for slot in asked.slots]
    place = f"{STAGE}:{name}"
    again = _again(visit, design)
    shown: dict[str, Any] = {"design": design, "asked": asked, "views": views, "place": place, "outdated": again}
    if again:  # labels of questionnaires are never renamed by a new version
        written = read_reply(asked.slots, None, visit.form)
        return visit.page("questionnaire.html", 409, **shown, reply=written, problems={}, restored=False)
    if visit.request.method == "GET":
        before = kept(visit, conn, place)
        reply = read_reply(asked.slots, None, before)
        return visit.page("questionnaire.html", **shown, reply=reply, problems={}, restored=bool(before))
    written = read_reply(asked.slots, None, visit.form)
    reply, problems = checked(asked.slots, None, written)
    if problems:
        return visit.page("questionnaire.html", 422, **shown, reply=written, problems=problems, restored=False)
    body = {"values": dict(reply.values), "scores": scores(asked, reply.values)}
    panels.add_stage(conn, visit.me.id, name, body, visit.site.store.now())
    return visit.go("/work")


def _training(visit: Visit, conn: Connection, design: Design, rounds: list[dict[str, Any]]) -> Response:
    training = design.training
    assert training is not None
    probes = []
    for probe in training.items:
        unit = project.unit_of(conn, probe.id)
        assert unit is not None
        probes.append((probe, unit))
    number = len(rounds) + 1
    again = _again(visit, design)
    asked = visit.request.method == "GET" or again
    if asked and number > training.attempts:
        return visit.refuse("training_over", 403)
    place = f"{STAGE}:{TRAINING}"
    before = kept(visit, conn, place) if visit.request.method == "GET" else {}
    if last(before, "round") != str(number):
        before = {}
    form = visit.form or before
    mappings = project.design_mappings(conn)
    replies = {}
    missing: dict[str, dict[str, str]] = {}
    for probe, unit in probes:
        fields = renew(_under(form, f"t.{probe.id}."), last(form, FIELD), mappings)
        written = read_reply(design.slots, unit, fields)
        reply, problems = checked(design.slots, unit, written)
        replies[probe.id] = written if problems else reply
        if problems:
            missing[probe.id] = problems
    shown = [
        {
            "probe": probe,
            "unit": unit,
            "pages": form_pages(design, unit, visit.language),
            "reply": replies[probe.id],
            "problems": {} if asked else missing.get(probe.id, {}),
            "marked": mark(probe.expected, replies[probe.id].values),
        }
        for probe, unit in probes
    ]
    share = f"{training.pass_mark:.0%}"
    if asked or missing:
        values: dict[str, Any] = {"design": design, "shown": shown, "number": number, "share": share}
        values |= {"place": place, "restored": bool(before), "outdated": again}
        return visit.page("training.html", 409 if again else 200 if asked else 422, **values)
    if number > training.attempts:
        return visit.refuse("training_over", 403)
    result = trained(design, {name: reply.values for name, reply in replies.items()})
    passed = result.share >= training.pass_mark
    body = {"values": {k: dict(r.values) for k, r in replies.items()}, "right": result.right, "asked": result.asked}
    panels.add_stage(conn, visit.me.id, TRAINING, {**body, "passed": passed}, visit.site.store.now())
    return visit.page(
        "trained.html",
        design=design,
        shown=shown,
        result=result,
        passed=passed,
        more=number < training.attempts,
        told=_teller(visit.language),
    )


def _teller(language: str) -> Callable[[Slot, Unit, Any], str]:
    def told(slot: Slot, unit: Unit, value: Any) -> str:
        return tell(slot, value, named(options_of(slot, unit), language))

    return told


def _under(form: dict[str, list[str]], prefix: str) -> dict[str, list[str]]:
    return {name.removeprefix(prefix): values for name, values in form.items() if name.startswith(prefix)}
