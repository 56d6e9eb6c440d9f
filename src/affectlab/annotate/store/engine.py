"""Opening the database of a project, and its transactions."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError

from affectlab.annotate.store.tables import META
from affectlab.errors import UserError, WorldError

_NETWORK = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "fuse.sshfs", "afs", "9p", "ceph", "glusterfs", "lustre"})
_BUSY_SECONDS = 30


@dataclass(frozen=True)
class Store:
    """An open database.

    Attributes:
        engine: SQLAlchemy's.
        now: The clock, in seconds since 1970.
        gate: Writers of this process go through it one after another. SQLite lets those who wait ask again and again,
            with no order among them, and on a busy machine some would never get their turn.
    """

    engine: Engine
    now: Callable[[], float] = field(default=time.time)
    gate: AbstractContextManager[Any] = field(default_factory=nullcontext)

    @property
    def is_sqlite(self) -> bool:
        """Whether it is a file."""
        return self.engine.dialect.name == "sqlite"

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction that only reads: on SQLite it waits for no writer."""
        with self.engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction that may write; committed when the block ends, rolled back when it raises."""
        with (
            self.gate,
            self.engine.connect().execution_options(affectlab_write=True) as connection,
            connection.begin(),
        ):
            yield connection

    def close(self) -> None:
        """Give all connections back."""
        self.engine.dispose()


def open_store(url: str, now: Callable[[], float] = time.time) -> Store:
    """Connects to a database; it need not hold anything yet.

    Args:
        url: ``sqlite:///PATH`` or ``postgresql://…``; PostgreSQL passwords come from ``PGPASSWORD`` or ``~/.pgpass``.
        now: The clock.

    Raises:
        UserError: When the URL is no such, or a SQLite file would lie on a network file system.
        WorldError: When the server cannot be reached.
    """
    address = _address(url)
    dumps = partial(json.dumps, ensure_ascii=False, allow_nan=False)
    if address.get_backend_name() == "sqlite":
        _check_place(Path(address.database or ""))
        engine = create_engine(address, json_serializer=dumps, pool_size=20, max_overflow=40)
        event.listen(engine, "connect", _prepare)
        event.listen(engine, "begin", _begin)
    else:
        engine = create_engine(address, json_serializer=dumps, pool_size=10, max_overflow=20, pool_pre_ping=True)
    store = Store(engine, now, Lock() if engine.dialect.name == "sqlite" else nullcontext())
    try:
        with store.read():
            pass
    except DBAPIError as error:
        store.close()
        hint = ". If it is damaged: affectlab annotate restore PROJECT BACKUP" if store.is_sqlite else ""
        raise WorldError(
            f"The database {address.render_as_string()} cannot be opened: {_plain(error)}{hint}"
        ) from error
    return store


def create_tables(store: Store) -> None:
    """Make all tables, where they are not there yet."""
    with store.write() as connection:
        META.create_all(connection)


def check_integrity(store: Store) -> None:
    """Ask SQLite whether its file is whole; PostgreSQL sees to that itself.

    Raises:
        WorldError: When it is damaged.
    """
    if not store.is_sqlite:
        return
    try:
        with store.read() as connection:
            found = connection.exec_driver_sql("PRAGMA quick_check").scalar()
    except DBAPIError as error:
        found = _plain(error)
    if found != "ok":
        raise WorldError(
            f"The database {store.engine.url.database} is damaged ({found}). "
            "Get the last good state back with: affectlab annotate restore PROJECT BACKUP"
        )


def _address(url: str) -> URL:
    try:
        address = make_url(url)
        if address.get_backend_name() == "postgresql":
            address = address.set(drivername="postgresql+psycopg")
        elif address.get_backend_name() != "sqlite" or not address.database:
            raise UserError(f"Database {url!r}: expected sqlite:///PATH or postgresql://HOST/NAME.")
        address.get_dialect()
    except (ArgumentError, NoSuchModuleError) as error:
        raise UserError(f"Database {url!r}: expected sqlite:///PATH or postgresql://HOST/NAME.") from error
    return address


def _prepare(connection: Any, _: Any) -> None:
    # The driver's own transactions start as readers and fail with "database is locked" when they turn into writers.
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in ("journal_mode=WAL", f"busy_timeout={_BUSY_SECONDS * 1000}", "foreign_keys=ON", "synchronous=FULL"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin(connection: Connection) -> None:
    writes = connection.get_execution_options().get("affectlab_write")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _check_place(path: Path) -> None:
    folder = path.expanduser().resolve().parent
    if not folder.is_dir():
        raise UserError(f"There is no folder {folder}.")
    kind = _file_system(folder)
    if kind in _NETWORK:
        raise UserError(
            f"{folder} lies on a network file system ({kind}), where SQLite loses data. "
            "Take a local folder, or give --database postgresql://…"
        )


def _file_system(folder: Path, mounts: Path = Path("/proc/mounts")) -> str:
    """Kind of the file system a folder lies on; empty where the system does not say."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    found = ("", "")
    for line in lines:
        _, point, kind, *_ = line.split(" ")
        point = point.replace("\\040", " ")
        if (folder == Path(point) or Path(point) in folder.parents) and len(point) >= len(found[0]):
            found = (point, kind)
    return found[1]


def _plain(error: DBAPIError) -> str:
    return str(error.orig).strip().splitlines()[0] if error.orig else str(error)


def database_url(folder: str | os.PathLike[str]) -> str:
    """URL of the SQLite file of a project folder."""
    return f"sqlite:///{Path(folder) / 'annotate.sqlite'}"
