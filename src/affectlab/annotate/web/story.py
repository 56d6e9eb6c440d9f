"""Pages of CAREBench's first stage: the interview, then the story to edit and approve; the writer's item follows."""

from __future__ import annotations

import secrets

from sqlalchemy import Connection
from starlette.responses import Response

from affectlab.annotate import interview as talk
from affectlab.annotate.design import Design, Story
from affectlab.annotate.interview import Interview
from affectlab.annotate.stages import STORY
from affectlab.annotate.store import claims, drafts, panels, project, replies
from affectlab.annotate.store.people import lock_person
from affectlab.annotate.values import LONGEST_NOTE, clean_text, last
from affectlab.annotate.web.kept import STAGE, forget, kept
from affectlab.annotate.web.visit import Visit

_INTERVIEW = "stage:story"
"""Key of the interview so far among the drafts."""

_PLACE = f"{STAGE}:{STORY}"
"""The page, for what is typed on it and not sent."""


def story(visit: Visit, conn: Connection, design: Design) -> Response | Interview:
    """One step of the interview, or the story.

    Returns:
        A page; or, after an answer that a model is to read, the interview with it: :func:`read_by_model` goes on, once
        the transaction is over. While a model thinks nobody must wait for the database.
    """
    assert design.story is not None
    state = _read(conn, visit.me.id) or talk.begin(design.story, visit.language)
    if visit.request.method == "GET":
        before = kept(visit, conn, _PLACE)
        if state.told:
            text = last(before, "story")
        else:
            text = last(before, "answer") if last(before, "question") == state.question else ""
        return _page(visit, design.story, state, text=text, restored=bool(text))
    if visit.field("none"):
        _over(visit, conn, {"over": True, "told": False})
        return visit.go("/work")
    if not state.told:
        return _answered(visit, conn, design.story, state)
    text = clean_text(visit.field("story"))
    if len(text) < sum(step.shortest for step in design.story.steps):
        return _page(visit, design.story, state, text=text, problem="story_short", status=422)
    _approve(visit, conn, design, state, text)
    return visit.go("/work")


def _answered(visit: Visit, conn: Connection, asked: Story, state: Interview) -> Response | Interview:
    text = clean_text(visit.field("answer"))[:LONGEST_NOTE]
    if visit.field("question") != state.question:  # sent twice, or from an older window
        return visit.go("/stage/story")
    if talk.too_short(asked, state, text):
        return _page(visit, asked, state, text=text, problem="story_short", status=422)
    answered = talk.answer(state, text)
    if visit.site.ask is not None:
        return answered
    _save(visit, conn, _proposed(talk.go_on(asked, answered, "", visit.language)))
    return visit.go("/stage/story")


def read_by_model(visit: Visit, asked: Story, answered: Interview) -> Response:
    """Ask the model what comes after an answer, and keep it if nothing else has happened meanwhile."""
    ask = visit.site.ask
    assert ask is not None
    follow_up = ""
    if talk.may_follow_up(asked, answered):
        follow_up = talk.read_follow_up(ask(talk.follow_up_messages(asked, answered, visit.language), 80))
    state = talk.go_on(asked, answered, follow_up, visit.language)
    if state.told:
        state = talk.propose(state, ask(talk.story_messages(state), 1200), asked_model=True)
    with visit.site.store.write() as conn:
        lock_person(conn, visit.me.id)
        over = panels.stages_of(conn, visit.me.id).get(STORY)
        now = _read(conn, visit.me.id) or talk.begin(asked, visit.language)
        if not over and now.turns == answered.turns[:-1] and now.question == answered.turns[-1].question:
            _save(visit, conn, state)
            forget(visit, conn, _PLACE)
    return visit.go("/stage/story")


def _proposed(state: Interview) -> Interview:
    return talk.propose(state) if state.told else state


def _approve(visit: Visit, conn: Connection, design: Design, state: Interview, text: str) -> None:
    item = f"story-{secrets.token_hex(5)}"  # observers see it, and must not see whose it is
    now = visit.site.store.now()
    seed = int(project.get_setting(conn, "seed"))
    project.add_story(conn, design, item, text, visit.me.id, seed)
    claims.claim_own(conn, design, item, visit.me, now)
    _over(visit, conn, {"over": True, "told": True, "item": item, "story": text, "interview": state.body()})
    replies.log(conn, visit.me.id, "story", {"item": item, "origin": state.origin}, now)


def _over(visit: Visit, conn: Connection, body: dict[str, object]) -> None:
    panels.add_stage(conn, visit.me.id, STORY, body, visit.site.store.now())
    drafts.drop(conn, _INTERVIEW, visit.me.id)


def _page(
    visit: Visit,
    asked: Story,
    state: Interview,
    *,
    text: str = "",
    problem: str = "",
    status: int = 200,
    restored: bool = False,
) -> Response:
    ids = [step.id for step in asked.steps]
    number = ids.index(state.step) + 1
    return visit.page(
        "story.html",
        status,
        asked=asked,
        state=state,
        text=text or state.story,
        restored=restored,
        problem=problem,
        number=number,
        total=len(ids),
        model=visit.site.ask is not None,
    )


def _read(conn: Connection, person: str) -> Interview | None:
    body = drafts.get(conn, _INTERVIEW, person)
    return Interview.from_body(body) if body else None


def _save(visit: Visit, conn: Connection, state: Interview) -> None:
    drafts.put(conn, _INTERVIEW, visit.me.id, state.body(), visit.site.store.now())
