"""Accounts: invitations, passwords, sessions, and how often a password may be wrong."""

from __future__ import annotations

import hmac
import secrets
import unicodedata
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from typing import Any, Literal, TypeAlias, cast, get_args

from sqlalchemy import Connection, delete, func, insert, select, update

from affectlab.annotate.store import tables as t
from affectlab.errors import UserError

Role: TypeAlias = Literal["annotator", "adjudicator", "admin"]
ROLES: tuple[str, ...] = get_args(Role)

SESSION_SECONDS = 14 * 24 * 3600
RESET_SECONDS = 7 * 24 * 3600
SHORTEST_PASSWORD = 8
LONGEST_NAME = 64
MOST_FAILURES = 8
"""Wrong passwords for one name, or five times as many from one address, within :data:`FAILURE_SECONDS`."""
FAILURE_SECONDS = 600


@dataclass(frozen=True)
class Person:
    """Somebody with an account.

    Attributes:
        id: Code that answers are kept under.
        name: What the person signs in with; shown to admins only.
        role: What the person may do.
        language: Of the pages.
        typing: Whether the rhythm of typing may be recorded.
    """

    id: str
    name: str
    role: Role
    language: str
    typing: bool


class RefusedError(Exception):
    """Something a person may not do; the text is a name in the interface's words."""


def make_invite(conn: Connection, role: str, now: float) -> str:
    """A new invitation for one person; returns its id.

    Raises:
        UserError: When there is no such role.
    """
    if role not in ROLES:
        raise UserError(f"There is no role {role!r}; expected one of {', '.join(ROLES)}.")
    found = secrets.token_hex(8)
    conn.execute(insert(t.invite).values(id=found, role=role, at=now))
    return found


def invite_token(secret: bytes, invite: str) -> str:
    """What stands in an invitation's link. Nothing in the database gives it away without the secret."""
    return f"{invite}-{signature(secret, 'invite', invite)}"


def open_invites(conn: Connection) -> list[tuple[str, str]]:
    """Id and role of every invitation nobody has used, oldest first."""
    query = select(t.invite.c.id, t.invite.c.role).where(t.invite.c.used_by.is_(None)).order_by(t.invite.c.at)
    return [(row.id, row.role) for row in conn.execute(query)]


def invited_role(conn: Connection, secret: bytes, token: str) -> str | None:
    """Role a token invites to; ``None`` when it is forged, used or withdrawn."""
    invite, _, _ = token.partition("-")
    if not hmac.compare_digest(invite_token(secret, invite).encode(), token.encode()):
        return None
    query = select(t.invite.c.role).where(t.invite.c.id == invite, t.invite.c.used_by.is_(None))
    return cast("str | None", conn.execute(query).scalar())


@dataclass(frozen=True)
class Newcomer:
    """Somebody who makes an account: chosen name, hashed password, language of the pages."""

    name: str
    hashed: str
    language: str = "en"


def accept_invite(conn: Connection, secret: bytes, token: str, newcomer: Newcomer, now: float) -> str:
    """Make the account an invitation is for; returns the person's id.

    Raises:
        RefusedError: When the invitation does not hold, or the name is empty or taken.
    """
    role = invited_role(conn, secret, token)
    if role is None:
        raise RefusedError("invite_over")
    found = add_person(conn, newcomer, role, now)
    invite = token.partition("-")[0]
    taken = update(t.invite).where(t.invite.c.id == invite, t.invite.c.used_by.is_(None)).values(used_by=found)
    if conn.execute(taken).rowcount != 1:
        raise RefusedError("invite_over")
    return found


def add_person(conn: Connection, newcomer: Newcomer, role: str, now: float, code: str = "") -> str:
    """A new account; returns its id, which is ``code`` where one is given.

    Raises:
        RefusedError: When the name is empty, too long or taken.
    """
    name = plain_name(newcomer.name)
    if not name or len(name) > LONGEST_NAME:
        raise RefusedError("name_needed")
    if conn.execute(select(t.person.c.id).where(t.person.c.name == name)).first():
        raise RefusedError("name_taken")
    number = conn.execute(select(func.count()).select_from(t.person)).scalar_one() + 1
    found = code or f"p{number:03d}-{secrets.token_hex(2)}"
    row = {"id": found, "name": name, "role": role, "password": newcomer.hashed, "language": newcomer.language}
    conn.execute(insert(t.person).values(**row, typing=False, at=now))
    return found


def plain_name(name: str) -> str:
    """A name as it is kept and compared: NFC, single blanks."""
    return " ".join(unicodedata.normalize("NFC", name).split())


def hash_password(password: str, *, cheap: bool = False) -> str:
    """Argon2id hash of a password; ``cheap`` for tests.

    Raises:
        RefusedError: When it is too short or longer than any password.
    """
    if not SHORTEST_PASSWORD <= len(password) <= 256:
        raise RefusedError("password_short")
    return str(_hasher(cheap=cheap).hash(password))


def sign_in(conn: Connection, name: str, password: str, address: str, now: float) -> Person | None:
    """The person of a name and password; ``None`` when they do not fit. Takes as long either way.

    Raises:
        RefusedError: When there were too many wrong passwords lately.
    """
    from argon2.exceptions import InvalidHashError, VerifyMismatchError

    name = plain_name(name)[:LONGEST_NAME]
    recent = select(func.count()).select_from(t.failure).where(t.failure.c.at > now - FAILURE_SECONDS)
    of_name = conn.execute(recent.where(t.failure.c.name == name)).scalar_one()
    of_address = conn.execute(recent.where(t.failure.c.address == address)).scalar_one()
    if of_name >= MOST_FAILURES or of_address >= 5 * MOST_FAILURES:
        raise RefusedError("too_many_tries")
    row = conn.execute(select(t.person).where(t.person.c.name == name)).first()
    hashed = row.password if row is not None and row.password else _decoy()
    try:
        _hasher().verify(hashed, password[:256])
    except (VerifyMismatchError, InvalidHashError):
        row = None
    if row is None or not row.password:
        conn.execute(insert(t.failure).values(name=name, address=address, at=now))
        return None
    return _person(row)


def open_session(conn: Connection, person: str, now: float) -> str:
    """A new session; returns what the cookie holds. Sessions that are over are removed on the way."""
    token = secrets.token_urlsafe(32)
    conn.execute(delete(t.session).where(t.session.c.until < now))
    conn.execute(insert(t.session).values(digest=_digest(token), person=person, until=now + SESSION_SECONDS))
    return token


def person_of(conn: Connection, token: str, now: float) -> Person | None:
    """Whose session a cookie is; ``None`` when it is forged or over."""
    query = (
        select(t.person)
        .join(t.session, t.session.c.person == t.person.c.id)
        .where(t.session.c.digest == _digest(token), t.session.c.until > now)
    )
    row = conn.execute(query).first()
    return _person(row) if row else None


def close_session(conn: Connection, token: str) -> None:
    """End a session."""
    conn.execute(delete(t.session).where(t.session.c.digest == _digest(token)))


def lock_person(conn: Connection, person: str) -> None:
    """Let a person's requests come one after another until the transaction ends."""
    conn.execute(select(t.person.c.id).where(t.person.c.id == person).with_for_update(key_share=True))


def begin_reset(conn: Connection, secret: bytes, person: str, now: float) -> str | None:
    """Sign a person out everywhere, and let him or her choose a new password; returns what stands in the link.

    The link works for :data:`RESET_SECONDS` and until the password has changed. ``None`` where there is no such
    person, or one who never had a password (imported annotators).
    """
    until = int(now) + RESET_SECONDS
    token = _reset_token(conn, secret, person, until)
    if token is not None:
        conn.execute(delete(t.session).where(t.session.c.person == person))
    return token


def reset_person(conn: Connection, secret: bytes, token: str, now: float) -> str | None:
    """Whose password a link lets change; ``None`` when it is forged, used or over."""
    person, until, _ = (*token.split("~"), "", "")[:3]
    if not (until.isdecimal() and len(until) < 12) or int(until) < now:
        return None
    right = _reset_token(conn, secret, person, int(until))
    return person if right is not None and hmac.compare_digest(right.encode(), token.encode()) else None


def reset_password(conn: Connection, secret: bytes, token: str, hashed: str, now: float) -> str:
    """Change a password by a link; returns the person's id. What failed under the name before no longer counts.

    Raises:
        RefusedError: When the link does not hold.
    """
    person = reset_person(conn, secret, token, now)
    if person is None:
        raise RefusedError("reset_over")
    conn.execute(update(t.person).where(t.person.c.id == person).values(password=hashed))
    conn.execute(delete(t.session).where(t.session.c.person == person))
    name = select(t.person.c.name).where(t.person.c.id == person).scalar_subquery()
    conn.execute(delete(t.failure).where(t.failure.c.name == name))
    return person


def _reset_token(conn: Connection, secret: bytes, person: str, until: int) -> str | None:
    query = select(t.person.c.password).where(t.person.c.id == person).with_for_update(key_share=True)
    hashed = conn.execute(query).scalar()
    # With the old password's hash in it, a token ends with that password.
    return f"{person}~{until}~{signature(secret, 'reset', person, str(until), hashed)}" if hashed else None


def set_preferences(conn: Connection, person: str, **values: Any) -> None:
    """Change ``language`` or ``typing`` of a person."""
    conn.execute(update(t.person).where(t.person.c.id == person).values(**values))


def people(conn: Connection) -> list[Person]:
    """Everybody, in the order of joining."""
    return [_person(row) for row in conn.execute(select(t.person).order_by(t.person.c.at, t.person.c.id))]


def signature(secret: bytes, *parts: str) -> str:
    """Keyed hash of some texts, for tokens."""
    return hmac.new(secret, "\x00".join(parts).encode(), sha256).hexdigest()[:32]


def _digest(token: str) -> str:
    return sha256(token.encode()).hexdigest()


def _person(row: Any) -> Person:
    return Person(row.id, row.name, row.role, row.language, row.typing)


@cache
def _hasher(*, cheap: bool = False) -> Any:
    from argon2 import PasswordHasher

    return PasswordHasher(time_cost=1, memory_cost=8, parallelism=1) if cheap else PasswordHasher()


@cache
def _decoy() -> str:
    return str(_hasher().hash(secrets.token_hex(16)))
