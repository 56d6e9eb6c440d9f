"""A project on disk: a folder with its settings, its SQLite file where it has one, and its backups.

Whoever has the project open holds a shared lock on its settings, and ``restore`` an exclusive one: what is answered
while a backup is put in place would be lost.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from sqlalchemy import Connection
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError

from affectlab.annotate.design import Design
from affectlab.annotate.store import project as stored
from affectlab.annotate.store.engine import Store, check_integrity, create_tables, database_url, open_store
from affectlab.annotate.units import Unit, unique
from affectlab.errors import UserError, WorldError

_SETTINGS = "project.json"
_SQLITE = "annotate.sqlite"
OWN_FILES = (_SETTINGS, _SQLITE)
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
        with _locked(self, alone=False):
            if self.url.startswith("sqlite") and not (self.folder / _SQLITE).exists():
                raise WorldError(f"{self.folder / _SQLITE} is gone. Get it back with: affectlab annotate restore")
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
def _locked(project: Project, *, alone: bool) -> Iterator[None]:
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
    with (project.folder / _SETTINGS).open("rb") as file:
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
        settings = json.loads((path / _SETTINGS).read_text(encoding="utf-8"))
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
    except BaseException:
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
            study = _study_of(conn)
    finally:
        store.close()
    _write_settings(path, database or "sqlite", study)
    return Project(path, database or database_url(path), study)


def _write_settings(folder: Path, database: str, study: str) -> None:
    new = folder / f"{_SETTINGS}.new"
    new.write_text(json.dumps({"database": database, "study": study}) + "\n", encoding="utf-8")
    new.replace(folder / _SETTINGS)


def _unmake(folder: Path, there: bool) -> None:
    """Take away what a project that could not be made has left, so that the next try finds the folder as it was."""
    for name in (_SETTINGS, _SQLITE, f"{_SQLITE}-wal", f"{_SQLITE}-shm"):
        (folder / name).unlink(missing_ok=True)
    if not there:
        with suppress(OSError):
            folder.rmdir()


def _study_of(conn: Connection) -> str:
    return _study_id(stored.secret_of(conn))


def _study_id(secret: bytes) -> str:
    """What tells the study from others, without giving its secret away."""
    return sha256(b"study:" + secret).hexdigest()[:16]


def backup(project: Project) -> Path:
    """A copy of the whole database as it is at one moment, while people work; returns the file.

    Raises:
        WorldError: When it cannot be written, or PostgreSQL's ``pg_dump`` is not there or fails.
    """
    folder = _backups(project)
    stem = datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%S.%f")[:-3]
    if project.url.startswith("sqlite"):
        target = folder / f"{stem}.sqlite"
        try:
            with closing(sqlite3.connect(project.folder / _SQLITE)) as connection:
                connection.execute("VACUUM INTO ?", (str(target),))
        except sqlite3.Error as error:
            with suppress(OSError):
                target.unlink(missing_ok=True)  # a part of one would be taken for a backup
            raise WorldError(f"The backup {target} could not be written: {error}") from error
        return target
    target = folder / f"{stem}.dump"
    _postgres("pg_dump", "--format=custom", f"--file={target}", f"--dbname={project.url}")
    return target


def _backups(project: Project) -> Path:
    folder = project.folder / "backups"
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise WorldError(f"The folder {folder} cannot be made: {error.strerror}.") from error
    return folder


def restore(project: Project, source: str | Path, *, other_study: bool = False) -> Path | None:
    """Put a backup in the place of the database; what was there is kept beside the backups, and its file returned.

    Nothing changes until the backup is copied and found whole.

    Args:
        project: The project.
        source: File that :func:`backup` made, or that an earlier ``restore`` kept.
        other_study: Take a backup of another study too.

    Raises:
        UserError: When the project is open, or the file is no backup of it.
        WorldError: When it cannot be put in place.
    """
    path = Path(source)
    if not path.is_file():
        raise UserError(f"There is no backup {source}.")
    with _locked(project, alone=True):
        if not project.url.startswith("sqlite"):
            study = _study_of_dump(path)
            _check_study(project.study or _study_in(project.url), study, path, other_study)
            before = backup(project)
            command = ("pg_restore", "--clean", "--if-exists", "--single-transaction", f"--dbname={project.url}")
            _postgres(*command, str(path))
            if study != project.study:
                _write_settings(project.folder, project.url, study)
            return before
        current = project.folder / _SQLITE
        if current.exists() and current.samefile(path):
            raise UserError(f"{source} is the database itself; name a file of {project.folder / 'backups'}.")
        copy = project.folder / f"restoring-{os.getpid()}.sqlite"
        try:
            _copy(path, copy)
            study = _check_backup(copy, path)
            own = project.study or (_study_in(project.url) if current.exists() else "")
            _check_study(own, study, path, other_study)
            kept = _put_aside(project, current)
            try:
                copy.replace(current)
            except OSError as error:
                raise WorldError(
                    f"The backup cannot be put in place: {error.strerror}."
                    + (f" The database is {kept} now." if kept else "")
                ) from error
        finally:
            for part in _PARTS:
                Path(f"{copy}{part}").unlink(missing_ok=True)
        if study != project.study:
            _write_settings(project.folder, "sqlite", study)
    return kept


_PARTS = ("", "-wal", "-shm")


def _copy(source: Path, target: Path) -> None:
    try:
        # Changes that were not merged yet belong to a database that was put aside.
        for part in _PARTS[:2]:
            if Path(f"{source}{part}").exists():
                shutil.copyfile(f"{source}{part}", f"{target}{part}")
    except OSError as error:
        raise WorldError(f"{source} cannot be copied to {target.parent}: {error.strerror}. Nothing changed.") from error


def _put_aside(project: Project, current: Path) -> Path | None:
    if not current.exists():
        for part in _PARTS[1:]:
            Path(f"{current}{part}").unlink(missing_ok=True)
        return None
    stem = _backups(project) / f"replaced-{datetime.now(UTC).strftime('%Y-%m-%dT%H-%M-%S.%f')[:-3]}"
    kept = Path(f"{stem}.sqlite")
    for part in _PARTS:
        if (old := Path(f"{current}{part}")).exists():
            old.replace(f"{kept}{part}")
    return kept


def _check_backup(copy: Path, source: Path) -> str:
    """The study a copied backup is of.

    Raises:
        UserError: When it is none.
    """
    try:
        check = open_store(f"sqlite:///{copy}")
    except WorldError as error:
        raise UserError(f"{source} is no backup of an annotation project.") from error
    try:
        check_integrity(check)
        stored.check_format(check)
        with check.read() as conn:
            return _study_of(conn)
    except WorldError as error:
        raise UserError(f"{source} is damaged, and no backup to go back to.") from error
    finally:
        check.close()


def _check_study(own: str, other: str, source: Path, other_study: bool) -> None:
    if own and own != other and not other_study:
        raise UserError(f"{source} is a backup of another study. To take it all the same: --other-study.")


def _study_in(url: str) -> str:
    """The study of a database, as far as it can be read."""
    try:
        store = open_store(url)
    except WorldError:
        return ""
    try:
        with store.read() as conn:
            return _study_of(conn)
    except (DBAPIError, TypeError):  # damaged, or empty
        return ""
    finally:
        store.close()


def _study_of_dump(path: Path) -> str:
    """The study that a dump of PostgreSQL is of.

    Raises:
        UserError: When it is none of an annotation project.
    """
    try:
        text = _postgres("pg_restore", "--data-only", "--table=setting", "--file=-", str(path))
    except WorldError as error:
        raise UserError(f"{path} is no backup of an annotation project: {error}") from error
    secret = next((line.split("\t")[1] for line in text.splitlines() if line.startswith("secret\t")), "")
    try:
        return _study_id(bytes.fromhex(json.loads(secret)))
    except (ValueError, TypeError) as error:
        raise UserError(f"{path} is no backup of an annotation project.") from error


def _postgres(*command: str) -> str:
    """What one of PostgreSQL's programs writes.

    Raises:
        WorldError: When it is not there or fails.
    """
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own command
    except FileNotFoundError as error:
        raise WorldError(f"{command[0]} is not installed; it comes with PostgreSQL's client.") from error
    if done.returncode:
        raise WorldError(f"{command[0]} failed: {done.stderr.strip()}")
    return done.stdout
