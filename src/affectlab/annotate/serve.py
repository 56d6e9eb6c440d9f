"""Running the pages: uvicorn, and the links by which people get in."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import ip_address

import uvicorn

from affectlab.annotate.backups import back_up_regularly
from affectlab.annotate.project import Project
from affectlab.annotate.store import people, project
from affectlab.annotate.store.engine import Store
from affectlab.annotate.web.app import make_app
from affectlab.annotate.web.visit import Ask
from affectlab.errors import UserError, WorldError

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def address_of(host: str, port: int, public: str = "") -> str:
    """Address people reach the pages under.

    Args:
        host: Address that is listened on.
        port: Port.
        public: Address they are said to be reached under; empty for the one that is listened on.

    Raises:
        UserError: When the server listens everywhere and it is not said under which address it is reached.
    """
    if public:
        return public.rstrip("/")
    try:
        everywhere = ip_address(host).is_unspecified
    except ValueError:
        everywhere = not host
    if everywhere:
        raise UserError(
            f"--host {host or repr(host)} listens on all addresses of this machine; say which one people use: "
            f"--public http://ADDRESS:{port}"
        )
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def invitations(store: Store, wanted: dict[str, int], base: str) -> list[tuple[str, str]]:
    """Links of the open invitations, after making those that are missing.

    Args:
        store: The project's database.
        wanted: How many invitations of each role are to be open or used in all.
        base: Address of the server.

    Returns:
        Role and link of every open invitation.
    """
    with store.write() as conn:
        secret = project.secret_of(conn)
        there = [role for _, role in people.open_invites(conn)] + [one.role for one in people.people(conn)]
        for role, number in wanted.items():
            for _ in range(number - there.count(role)):
                people.make_invite(conn, role, store.now())
        found = people.open_invites(conn)
    return [(role, f"{base}/invite/{people.invite_token(secret, invite)}") for invite, role in found]


def new_password(store: Store, name: str, base: str) -> str:
    """Sign somebody out everywhere; the link by which he or she chooses a new password, once and within a week.

    Args:
        store: The project's database.
        name: Name of the account.
        base: Address of the server.

    Raises:
        UserError: When there is no such account, or one without a password.
    """
    with store.write() as conn:
        wanted = people.plain_name(name)
        person = next((one.id for one in people.people(conn) if one.name == wanted), "")
        token = people.begin_reset(conn, project.secret_of(conn), person, store.now())
    if token is None:
        why = "has no password: its answers were imported" if person else "is nobody's name here"
        raise UserError(f"--for {name!r} {why}; `affectlab annotate status` lists the accounts.")
    return f"{base.rstrip('/')}/reset/{token}"


@dataclass(frozen=True)
class Serving:
    """How the pages are served.

    Attributes:
        address: Host and port to listen on.
        hosts: Names it may be reached under, besides loopback's.
        secure: Whether it is reached over HTTPS, through a proxy that ends TLS.
        backup_minutes: A backup so often; none for 0.
    """

    address: tuple[str, int]
    hosts: tuple[str, ...] = ()
    secure: bool = False
    backup_minutes: int = 30


def run(
    found: Project,
    store: Store,
    serving: Serving,
    *,
    ask: Ask | None = None,
    ready: Callable[[], None] | None = None,
) -> None:
    """Serve until interrupted.

    Args:
        found: The project.
        store: Its open database.
        serving: How.
        ask: A model for interviews.
        ready: Called when the server listens.

    Raises:
        WorldError: When the port cannot be had.
    """
    host, port = serving.address
    hosts = [*LOOPBACK, *(name for name in serving.hosts if name)]
    app = make_app(store, hosts=hosts, secure=serving.secure, ask=ask)
    config = uvicorn.Config(app, host=host, port=port, log_level="warning", access_log=False, server_header=False)
    server = _Server(config, ready)
    stop = threading.Event()
    if serving.backup_minutes:
        threading.Thread(target=back_up_regularly, args=(found, serving.backup_minutes * 60, stop), daemon=True).start()
    try:
        server.run()
    finally:
        stop.set()
    if not server.started:
        raise WorldError(f"{host}:{port} cannot be listened on; is another server running? Take another --port.")


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, ready: Callable[[], None] | None) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: object = None) -> None:
        try:
            await super().startup(sockets=None)
        except SystemExit:  # uvicorn's way of saying that the port is taken
            self.should_exit = True
            return
        if self._ready and self.started:
            self._ready()
