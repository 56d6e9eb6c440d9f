"""Pages for signing in and out, invitations and preferences."""

from __future__ import annotations

from starlette.responses import Response

from affectlab.annotate.store import people
from affectlab.annotate.store.people import Newcomer, RefusedError
from affectlab.annotate.web.visit import COOKIE, Visit, inside, set_cookie
from affectlab.annotate.words import LANGUAGES

HOME = {"annotator": "/work", "adjudicator": "/adjudicate", "admin": "/admin"}


def home(visit: Visit) -> Response:
    """To where the person's work is."""
    return visit.go(HOME[visit.me.role])


def login(visit: Visit) -> Response:
    """Sign in."""
    going = inside(visit.request.query_params.get("next", ""), "/")
    if visit.request.method == "GET":
        return visit.page("login.html", problem="", name="", next=going)
    going = inside(visit.field("next"), "/")
    address = visit.request.client.host if visit.request.client else ""
    name = visit.field("name")
    with visit.site.store.write() as conn:
        try:
            person = people.sign_in(conn, name, visit.field("password"), address, visit.site.store.now())
        except RefusedError as refused:
            return visit.page("login.html", 429, problem=str(refused), name=name, next=going)
    if person is None:
        return visit.page("login.html", 403, problem="wrong_password", name=name, next=going)
    return _signed_in(visit, person.id, going)


def logout(visit: Visit) -> Response:
    """Sign out."""
    with visit.site.store.write() as conn:
        people.close_session(conn, visit.request.cookies.get(COOKIE, ""))
    response = visit.go("/login")
    response.delete_cookie(COOKIE, path="/")
    return response


def invite(visit: Visit) -> Response:
    """Make an account from an invitation."""
    token = visit.request.path_params["token"]
    with visit.site.store.read() as conn:
        role = people.invited_role(conn, visit.site.secret, token)
    if role is None:
        return visit.refuse("invite_over", 404)
    if visit.request.method == "GET":
        return visit.page("invite.html", problem="", name="", role=role)
    name = visit.field("name")
    language = visit.field("language") if visit.field("language") in LANGUAGES else visit.language
    try:
        hashed = people.hash_password(visit.field("password"))
        newcomer = Newcomer(name, hashed, language)
        with visit.site.store.write() as conn:
            person = people.accept_invite(conn, visit.site.secret, token, newcomer, visit.site.store.now())
    except RefusedError as refused:
        return visit.page("invite.html", 409, problem=str(refused), name=name, role=role)
    return _signed_in(visit, person, "/")


def reset(visit: Visit) -> Response:
    """Choose a new password, by a link that an administrator has made."""
    token, secret = visit.request.path_params["token"], visit.site.secret
    now = visit.site.store.now()
    with visit.site.store.read() as conn:
        if people.reset_person(conn, secret, token, now) is None:
            return visit.refuse("reset_over", 404)
    if visit.request.method == "GET":
        return visit.page("reset.html", problem="")
    try:
        hashed = people.hash_password(visit.field("password"))
        with visit.site.store.write() as conn:
            person = people.reset_password(conn, secret, token, hashed, now)
    except RefusedError as refused:
        return visit.page("reset.html", 409, problem=str(refused))
    return _signed_in(visit, person, "/")


def preferences(visit: Visit) -> Response:
    """Change language, or whether the rhythm of typing may be recorded."""
    changed: dict[str, str | bool] = {}
    if visit.field("language") in LANGUAGES:
        changed["language"] = visit.field("language")
    if visit.field("typing") in {"yes", "no"}:
        changed["typing"] = visit.field("typing") == "yes"
    if changed:
        with visit.site.store.write() as conn:
            people.set_preferences(conn, visit.me.id, **changed)
    return visit.go(inside(visit.field("next"), "/"))


def _signed_in(visit: Visit, person: str, going: str) -> Response:
    with visit.site.store.write() as conn:
        token = people.open_session(conn, person, visit.site.store.now())
    response = visit.go(going)
    set_cookie(visit.site, response, COOKIE, token, people.SESSION_SECONDS)
    return response
