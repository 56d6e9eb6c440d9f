"""Pages for those who run the study: where it stands, people, invitations, quality sheets, agreement, files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from affectlab.annotate import export
from affectlab.annotate.adjudicate import tally
from affectlab.annotate.agreement import figures_table, overview, scores_of
from affectlab.annotate.design import Design
from affectlab.annotate.project_agreement import project_agreement
from affectlab.annotate.quality import sheet, sheet_rows
from affectlab.annotate.slots import named
from affectlab.annotate.store import panels, people, project, replies, works
from affectlab.annotate.store.people import ROLES
from affectlab.annotate.web.figures import in_language, matrix_view, table_view
from affectlab.annotate.web.remarks import reasons_of, remarks
from affectlab.annotate.web.visit import Visit
from affectlab.annotate.words import say
from affectlab.errors import UserError
from affectlab.stats.agreement.summary import SlotAgreement


def admin(visit: Visit) -> Response:
    """Where the study stands."""
    with visit.site.store.read() as conn:
        design = visit.site.design(conn)
        found = panels.panels(conn, design)
        counts = tally(design, found)
        everybody = people.people(conn)
        invites = people.open_invites(conn)
        stored = replies.current(conn)
        said = remarks(stored)
        units = {name: project.unit_of(conn, name) for name in said}
    texts = {name: unit.text(design.main_field)[:120] if unit else "" for name, unit in units.items()}
    # As on the quality sheets: items of the study, not those that check attention or come again.
    work = {panel.unit.id for panel in found}
    answered = Counter(one.person for one in stored if one.item in work and not one.reply.skipped)
    skipped = Counter(one.person for one in stored if one.item in work and one.reply.skipped)
    links = [(role, f"{visit.base}/invite/{people.invite_token(visit.site.secret, one)}") for one, role in invites]
    return visit.page(
        "admin.html",
        design=design,
        items=len(found),
        complete=sum(panel.complete for panel in found),
        counts=counts,
        everybody=everybody,
        answered=answered,
        skipped=skipped,
        remarks=[(name, texts[name], said[name]) for name in said],
        names={one.id: one.name for one in everybody},
        reasons=reasons_of(design, visit.language),
        links=links,
        roles=ROLES,
        files=export.FILES,
    )


def invite(visit: Visit) -> Response:
    """Make an invitation."""
    if visit.field("role") not in ROLES:
        return visit.refuse("unreadable", 400)
    with visit.site.store.write() as conn:
        people.make_invite(conn, visit.field("role"), visit.site.store.now())
    return visit.go("/admin")


def reset(visit: Visit) -> Response:
    """Sign somebody out everywhere and show a link by which he or she chooses a new password."""
    person = visit.field("person")
    with visit.site.store.write() as conn:
        now = visit.site.store.now()
        token = people.begin_reset(conn, visit.site.secret, person, now)
        if token is None:
            return visit.refuse("no_password", 404)
        replies.log(conn, visit.me.id, "reset", {"person": person}, now)
        name = next(one.name for one in people.people(conn) if one.id == person)
    return visit.page("reset_made.html", link=f"{visit.base}/reset/{token}", name=name)


def quality(visit: Visit) -> Response:
    """One person's quality sheet."""
    wanted = visit.request.path_params["person"]
    with visit.site.store.read() as conn:
        design = visit.site.design(conn)
        person = next((one for one in people.people(conn) if one.id == wanted), None)
        if person is None:
            return visit.refuse("not_found", 404)
        found = sheet(
            design, works.works_of(conn, design, wanted), works.others_of(panels.panels(conn, design), wanted)
        )
        stages = panels.stages_of(conn, wanted)
    scores = {name: rounds[-1]["scores"] for name, rounds in stages.items() if rounds and rounds[-1].get("scores")}

    def told(text: str) -> str:
        return in_language(text, visit.language)

    rows = [(told(name), told(value)) for name, value in sheet_rows(found)]
    flags = [(told(flag.name.replace("_", " ")), told(flag.evidence)) for flag in found.flags]
    return visit.page("quality.html", person=person, flags=flags, rows=[*rows, *_score_rows(scores)])


def _score_rows(scores: Mapping[str, Mapping[str, float | None]]) -> list[tuple[str, str]]:
    return [
        (f"{name}: {score}", "–" if value is None else f"{value:.2f}")
        for name, found in scores.items()
        for score, value in found.items()
    ]


def agreement(visit: Visit) -> Response:
    """Agreement on every slot, with intervals and confusions."""
    with visit.site.store.read() as conn:
        design = visit.site.design(conn)
        try:
            found = project_agreement(conn, design)
        except UserError as error:
            return visit.page("agreement.html", whole=None, views=[], problem=in_language(str(error), visit.language))
    views = [_agreement_view(design, one, visit.language) for one in found]
    return visit.page("agreement.html", whole=table_view(overview(found), visit.language), views=views, problem="")


def _agreement_view(design: Design, found: SlotAgreement, language: str) -> dict[str, Any]:
    """All the command line shows of a slot, in the language of the page; the sentence for the paper stays English."""
    scores = scores_of(found)
    slot = design.slot.get(found.slot)
    names: dict[str, str] = {}
    if language != "en":  # in English the ids are words already, and those of the files
        slots = [slot] if slot else design.slots  # a part of a slot, or several together
        names = named((option for one in slots for option in one.options), language)
    methods, *notes = scores.notes
    return {
        "id": found.slot,
        "title": say(slot.title, language) if slot else "",
        "tables": [table_view(table, language, names) for table in (figures_table(found), *scores.tables)]
        + [matrix_view(matrix, language, names) for matrix in scores.matrices],
        "methods": methods,
        "notes": [in_language(note, language) for note in notes],
    }


def download(visit: Visit) -> Response:
    """A file of the project; only the names that are offered."""
    name = visit.request.path_params["name"]
    if name not in export.FILES:
        return visit.refuse("not_found", 404)
    with visit.site.store.read() as conn:
        design = visit.site.design(conn)
        text = export.make_file(conn, design, name)
    kind = "text/csv" if name.endswith(".csv") else "application/x-ndjson"
    headers = {"Content-Disposition": f'attachment; filename="{design.name}-{name}"'}
    return Response(text.encode(), media_type=f"{kind}; charset=utf-8", headers=headers)
