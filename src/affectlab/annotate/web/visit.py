"""One request as page functions see it, and everything a request must pass before it gets there."""

from __future__ import annotations

import hmac
import logging
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias
from urllib.parse import parse_qs, quote, urlsplit

from sqlalchemy import Connection
from sqlalchemy.exc import DataError, OperationalError
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from affectlab.annotate.design import Design
from affectlab.annotate.store import people
from affectlab.annotate.store.engine import Store
from affectlab.annotate.store.people import Person, RefusedError
from affectlab.annotate.store.project import current_design, newest_version
from affectlab.annotate.values import last
from affectlab.annotate.web.render import Pages
from affectlab.annotate.words import LANGUAGES
from affectlab.models.base import Message

_LOG = logging.getLogger("affectlab.annotate")

MOST_BYTES = 256 * 1024
MOST_FIELDS = 2000
COOKIE, VISITOR = "affectlab_session", "affectlab_visitor"

Ask: TypeAlias = Callable[[Sequence[Message], int], "str | None"]
"""Puts a conversation to a model, with the most tokens it may answer; ``None`` when it could not."""

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Site:
    """What all requests share: the store, the key of its tokens, the pages, and the design of the moment."""

    def __init__(
        self, store: Store, secret: bytes, pages: Pages, *, secure: bool = False, ask: Ask | None = None
    ) -> None:
        self.store, self.secret, self.pages, self.secure, self.ask = store, secret, pages, secure, ask
        self._design: tuple[int, Design] | None = None

    def design(self, conn: Connection) -> Design:
        """The newest design; read anew only when its version has changed."""
        version = newest_version(conn)
        if self._design is None or self._design[0] != version:
            self._design = (version, current_design(conn))
        return self._design[1]


@dataclass(frozen=True)
class Visit:
    """One request.

    Attributes:
        site: What all requests share.
        request: Starlette's.
        person: Who is signed in; nobody on public pages.
        form: Fields of the body, each with all its values.
        visitor: Key of somebody who is not signed in, for the tokens of the sign-in forms.
    """

    site: Site
    request: Request
    person: Person | None
    form: dict[str, list[str]]
    visitor: str

    @property
    def me(self) -> Person:
        """Who is signed in, on pages that need it."""
        assert self.person is not None
        return self.person

    @property
    def language(self) -> str:
        """Language of the page: the person's, else the one asked for by ``?lang=``, else the browser's first known."""
        asked = self.request.query_params.get("lang", "")
        if asked in LANGUAGES:
            return asked
        if self.person:
            return self.person.language
        accepted = [
            part.split(";")[0].strip()[:2] for part in self.request.headers.get("accept-language", "").split(",")
        ]
        return next((one for one in accepted if one in LANGUAGES), "en")

    @property
    def token(self) -> str:
        """What every form of this page must send back."""
        who = self.person.id if self.person else f"visitor:{self.visitor}"
        return people.signature(self.site.secret, "form", who)

    @property
    def base(self) -> str:
        """Address of the site as people reach it; a proxy that ends TLS passes its requests on without."""
        return str(self.request.base_url.replace(scheme="https") if self.site.secure else self.request.base_url).rstrip(
            "/"
        )

    def field(self, name: str) -> str:
        """Last value of a field; empty when there is none."""
        return last(self.form, name)

    def page(self, template: str, status: int = 200, **values: Any) -> Response:
        """A page."""
        return self.site.pages.response(template, self, status, values)

    def go(self, path: str) -> Response:
        """Off to another page, by GET."""
        return RedirectResponse(path, status_code=303)

    def refuse(self, reason: str, status: int) -> Response:
        """A page, or a line where a page asked for one, that says why something was not done."""
        if self.request.headers.get("hx-request"):
            return self.page("line.html", status, reason=reason)
        return self.page("refused.html", status, reason=reason)


Page: TypeAlias = Callable[[Visit], Response]


def endpoint(site: Site, page: Page, roles: Sequence[str] | None) -> Callable[[Request], Any]:
    """A page function as Starlette calls it.

    In this order: a body that is not too large, a session where one is needed, a role that may be here, and for what
    changes anything the form's token and an origin that is ours.
    """

    async def answer(request: Request) -> Response:
        body = await _body(request)
        response = await run_in_threadpool(_answer, site, page, roles, request, body)
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
        return response

    return answer


def _answer(site: Site, page: Page, roles: Sequence[str] | None, request: Request, body: bytes | None) -> Response:
    visitor = request.cookies.get(VISITOR, "")
    new_visitor = "" if 20 <= len(visitor) <= 64 else secrets.token_urlsafe(24)
    with site.store.read() as conn:
        person = people.person_of(conn, request.cookies.get(COOKIE, ""), site.store.now())
    form: dict[str, list[str]] = {}
    visit = Visit(site, request, person, form, new_visitor or visitor)
    response = _checked(visit, page, roles, body)
    if new_visitor and person is None:
        set_cookie(site, response, VISITOR, new_visitor)
    return response


def _checked(visit: Visit, page: Page, roles: Sequence[str] | None, body: bytes | None) -> Response:
    request = visit.request
    changes = request.method != "GET"
    if body is None:
        return visit.refuse("too_large", 413)
    if roles is not None and visit.person is None:
        if changes:
            return visit.refuse("signed_out", 401)
        here = request.url.path
        return visit.go("/login" if here == "/" else f"/login?next={quote(here)}")
    if roles is not None and visit.me.role not in roles:
        return visit.refuse("not_allowed", 403)
    if changes:
        try:
            fields = parse_qs(body.decode(), keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="strict")
        except ValueError:
            return visit.refuse("unreadable", 400)
        visit.form.update(fields)
        if not _ours(request) or not hmac.compare_digest(visit.field("csrf").encode(), visit.token.encode()):
            return visit.refuse("not_from_here", 403)
    try:
        return page(visit)
    except RefusedError as refused:
        return visit.refuse(str(refused), 409)
    except DataError as error:  # a text that PostgreSQL has no place for, as one with NUL in it
        _LOG.warning("%s: %s", request.url.path, error.orig)
        return visit.refuse("unreadable", 400)
    except OperationalError as error:  # the database is busy or away: nothing was kept
        _LOG.error("%s: %s", request.url.path, error.orig)
        return visit.refuse("busy", 503)


def _ours(request: Request) -> bool:
    origin = request.headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != request.headers.get("host"):
        return False
    return request.headers.get("sec-fetch-site", "same-origin") in {"same-origin", "none"}


async def _body(request: Request) -> bytes | None:
    """The body; ``None`` when it is larger than any form of ours."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > MOST_BYTES:
            return None
        parts.append(part)
    return b"".join(parts)


def set_cookie(site: Site, response: Response, name: str, value: str, seconds: int | None = None) -> None:
    """A cookie that scripts and other sites do not get."""
    response.set_cookie(name, value, max_age=seconds, httponly=True, samesite="lax", secure=site.secure, path="/")


def inside(path: str, default: str) -> str:
    """A path of this site to go on to; the default where it leads anywhere else."""
    # Browsers drop tabs and line ends out of addresses, so that "/<tab>/host" is "//host".
    fine = path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable()
    return path if fine else default
