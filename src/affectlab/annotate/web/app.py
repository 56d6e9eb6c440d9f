"""The application: which path leads to which page, and who may go there."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from affectlab.annotate.store.engine import Store
from affectlab.annotate.store.project import secret_of
from affectlab.annotate.web import account, adjudication, admin, kept, remarks, stage, work
from affectlab.annotate.web.asking import limited
from affectlab.annotate.web.render import Pages
from affectlab.annotate.web.visit import HEADERS, Ask, Page, Site, endpoint
from affectlab.annotate.words import interface

_WORKERS = ("annotator", "adjudicator")
_JUDGES = ("annotator", "adjudicator", "admin")  # annotators where the design lets them discuss, which the page checks
_EVERYBODY = _JUDGES
_ADMIN = ("admin",)

_ROUTES: tuple[tuple[str, str, Page, Sequence[str] | None], ...] = (
    ("GET", "/", account.home, _EVERYBODY),
    ("GET POST", "/login", account.login, None),
    ("POST", "/logout", account.logout, _EVERYBODY),
    ("GET POST", "/invite/{token}", account.invite, None),
    ("GET POST", "/reset/{token}", account.reset, None),
    ("POST", "/me", account.preferences, _EVERYBODY),
    ("GET", "/work", work.work, _WORKERS),
    ("GET POST", "/stage/{name}", stage.stage, _WORKERS),
    ("GET POST", "/item/{item:path}", work.item, _WORKERS),
    ("POST", "/draft/{item:path}", work.draft, _WORKERS),
    ("POST", "/skip/{item:path}", work.skip, _WORKERS),
    ("POST", "/keep", kept.keep, _EVERYBODY),
    ("GET", "/mine", work.mine, _WORKERS),
    ("GET", "/adjudicate", adjudication.adjudication, _JUDGES),
    ("GET POST", "/adjudicate/{slot}/{item:path}", adjudication.decision, _JUDGES),
    ("POST", "/note/{item:path}", adjudication.note, _JUDGES),
    ("GET", "/admin", admin.admin, _ADMIN),
    ("POST", "/admin/invite", admin.invite, _ADMIN),
    ("POST", "/admin/reset", admin.reset, _ADMIN),
    ("GET", "/admin/people/{person}", admin.quality, _ADMIN),
    ("GET", "/admin/items/{item:path}", remarks.item, _ADMIN),
    ("GET", "/admin/agreement", admin.agreement, _ADMIN),
    ("GET", "/admin/files/{name}", admin.download, _ADMIN),
)


def make_app(store: Store, *, hosts: Sequence[str] = ("*",), secure: bool = False, ask: Ask | None = None) -> Starlette:
    """The application of an open project.

    Args:
        store: Its database.
        hosts: Names it may be reached under; requests to another host are refused.
        secure: Whether cookies are sent over HTTPS only.
        ask: Puts questions of CAREBench's interview to a model; fixed questions where there is none.
    """
    with store.read() as conn:
        secret = secret_of(conn)
    site = Site(store, secret, Pages(), secure=secure, ask=limited(ask) if ask else None)

    routes = [
        Route(path, endpoint(site, page, roles), methods=methods.split()) for methods, path, page, roles in _ROUTES
    ]
    static = Path(str(files("affectlab.annotate") / "web" / "static"))
    return Starlette(
        routes=[*routes, Mount("/static", StaticFiles(directory=static))],
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts))],
        exception_handlers={HTTPException: _refused, 500: _broken},
    )


async def _refused(_: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    return _plain(status, "not_found" if status == 404 else "not_allowed")


async def _broken(_: Request, error: Exception) -> Response:
    return _plain(500, "server_problem")


def _plain(status: int, word: str) -> Response:
    text = "\n".join(interface()[word].values())
    return Response(text, status, headers=HEADERS, media_type="text/plain; charset=utf-8")
