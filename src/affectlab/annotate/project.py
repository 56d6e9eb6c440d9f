"""A project on disk: a folder with its settings and its SQLite file, where it has one.

Whoever has the project open holds a shared lock on its settings, and ``restore`` an exclusive one: what is answered
while a backup is put in place would be lost.
"""

from __future__ import annotations

import errno
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from sqlalchemy import Connection
from sqlalchemy.engine import make_url

from affectlab.annotate.design import Design
from affectlab.annotate.store import project as stored
from affectlab.annotate.store.engine import Store, check_integrity, create_tables, database_url, open_store
from affectlab.annotate.units import Unit, unique
from affectlab.errors import UserError, WorldError
from affectlab.replacing import replacing

SETTINGS = "project.json"
SQLITE = "annotate.sqlite"
BACKUPS = "backups"
OWN_FILES = (SETTINGS, SQLITE)
"""How names of a project's files begin; nothing else is to be written over them."""


@dataclass(frozen=True)
class Project:
    """A project folder.

    Attributes:
        folder: The folder.
        url: Of the database, without a password.
        study: What tells the study from others; empty for a project made before there was such a thing.
    """

    folder: Path
    url: str
    study: str = ""

    @contextmanager
    def opened(self) -> Iterator[Store]:
        """The project's database, checked.

        Raises:
            UserError: When it holds no project, or one of another format.
            WorldError: When it cannot be opened, is damaged or is being restored.
        """
        with locked(self, alone=False):
            if self.url.startswith("sqlite") and not (self.folder / SQLITE).exists():
                raise WorldError(f"{self.folder / SQLITE} is gone. Get it back with: affectlab annotate restore")
            store = open_store(self.url)
            try:
                check_integrity(store)
                stored.check_format(store)
                yield store
            finally:
                store.close()


@contextmanager
def _where_locks_are() -> Iterator[None]:
    """Go on without a lock on file systems that know none."""
    try:
        yield
    except BlockingIOError:
        raise
    except OSError as error:
        if error.errno not in {errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS}:
            raise


@contextmanager
def locked(project: Project, *, alone: bool) -> Iterator[None]:
    """Hold the project's lock, which ends with the process whatever becomes of it.

    Raises:
        UserError: When it is to be held alone and somebody has the project open.
        WorldError: When somebody holds it alone.
    """
    try:
        import fcntl
    except ImportError:  # systems without it have no other lock that ends with its process
        yield
        return
    with (project.folder / SETTINGS).open("rb") as file:
        try:
            with _where_locks_are():
                fcntl.flock(file, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        except BlockingIOError as error:
            if not alone:
                raise WorldError(f"{project.folder} is being restored; try again in a moment.") from error
            raise UserError(
                f"{project.folder} is open: a server or another command is at work on it. Stop it first; answers it "
                "took while a backup is put in place would be lost."
            ) from error
        yield


def find_project(folder: str | Path) -> Project:
    """The project in a folder.

    Raises:
        UserError: When there is none.
    """
    path = Path(folder)
    try:
        settings = json.loads((path / SETTINGS).read_text(encoding="utf-8"))
        url = str(settings["database"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(
            f"{folder} is no annotation project; make one with: affectlab annotate init {folder}"
        ) from error
    return Project(path, database_url(path) if url == "sqlite" else url, str(settings.get("study", "")))


def init_project(
    folder: str | Path,
    design: Design,
    units: Sequence[Unit],
    *,
    database: str = "",
    seed: int = 0,
    assignments: Sequence[tuple[str, str]] = (),
) -> tuple[Project, list[str]]:
    """Make a project: the folder, the tables, the design and the items.

    Args:
        folder: Must not be there yet, or be empty.
        design: The study.
        units: Its items; may be empty where people write their own stories.
        database: URL of a PostgreSQL database; a SQLite file in the folder when empty.
        seed: Of orders, attention items and repeats.
        assignments: Pairs of item id and person's name, where it is fixed who gets what.

    Returns:
        The project, and the ids of items left out because the same content came before.

    Raises:
        UserError: When the folder is in use, there is nothing to annotate, or the URL holds a password.
        WorldError: When the database cannot be reached.
    """
    path = Path(folder)
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise UserError(f"{folder} is there already and not empty; take another name.")
    if not units and design.story is None:
        raise UserError(f"The design {design.name!r} needs items: --items FILE.")
    if database and make_url(database).password:
        raise UserError("Keep the password out of the URL: set PGPASSWORD, or use ~/.pgpass.")
    kept, doubled = unique(units)
    there = path.exists()
    path.mkdir(parents=True, exist_ok=True)
    try:
        project = _filled(path, database, design, kept, seed, assignments)
    except BaseException:  # Ctrl-C too leaves no half-made folder
        _unmake(path, there)
        raise
    return project, doubled


def _filled(
    path: Path, database: str, design: Design, units: Sequence[Unit], seed: int, assignments: Sequence[tuple[str, str]]
) -> Project:
    store = open_store(database or database_url(path))
    try:
        create_tables(store)
        with store.write() as conn:
            stored.start_project(conn, design, seed, store.now())
            stored.add_units(conn, design, units, seed)
            stored.pair_up(conn, assignments)
            study = study_of(conn)
    finally:
        store.close()
    write_settings(path, database or "sqlite", study)
    return Project(path, database or database_url(path), study)


def write_settings(folder: Path, database: str, study: str) -> None:
    """Write down where a project's database is (``sqlite``: in the folder), and which study it is of."""
    with replacing(folder / SETTINGS) as new:
        new.write_text(json.dumps({"database": database, "study": study}) + "\n", encoding="utf-8")


def _unmake(folder: Path, there: bool) -> None:
    """Take away what a project that could not be made has left, so that the next try finds the folder as it was."""
    for name in (SETTINGS, SQLITE, f"{SQLITE}-wal", f"{SQLITE}-shm"):
        (folder / name).unlink(missing_ok=True)
    if not there:
        with suppress(OSError):
            folder.rmdir()


def study_of(conn: Connection) -> str:
    """What tells the study in a database from others."""
    return study_id(stored.secret_of(conn))


def study_id(secret: bytes) -> str:
    """The same by the study's secret, which it does not give away."""
    return sha256(b"study:" + secret).hexdigest()[:16]
