"""Backups of a project: made while people work, and put back without losing an answer."""

from __future__ import annotations

import json
import logging
import os
import shutil
import sqlite3
import subprocess
import threading
from collections.abc import Iterable
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy.exc import DBAPIError

from affectlab.annotate.project import BACKUPS, SQLITE, Project, locked, study_id, study_of, write_settings
from affectlab.annotate.store import project as stored
from affectlab.annotate.store.engine import check_integrity, open_store
from affectlab.errors import UserError, WorldError

NEWEST = 48
"""So many of the server's own backups are kept: a day's at one each half hour. Of older days one each stays."""

_OWN = "auto-"
_LOG = logging.getLogger("affectlab.annotate")
_PARTS = ("", "-wal", "-shm")
"""What a SQLite database consists of: its file, changes not merged yet, and their index."""


def backup(project: Project) -> Path:
    """A copy of the whole database as it is at one moment, while people work; returns the file.

    Raises:
        WorldError: When it cannot be written, or PostgreSQL's ``pg_dump`` is not there or fails.
    """
    folder = _backups(project)
    stem = _now()
    if project.url.startswith("sqlite"):
        target = folder / f"{stem}.sqlite"
        try:
            with closing(sqlite3.connect(project.folder / SQLITE)) as connection:
                connection.execute("VACUUM INTO ?", (str(target),))
        except sqlite3.Error as error:
            with suppress(OSError):
                target.unlink(missing_ok=True)  # a part of one would be taken for a backup
            raise WorldError(f"The backup {target} could not be written: {error}") from error
        return target
    target = folder / f"{stem}.dump"
    _postgres("pg_dump", "--format=custom", f"--file={target}", f"--dbname={project.url}")
    return target


def _now() -> str:
    """The time as part of a file's name, to a thousandth of a second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%S.%f")[:-3]


def _backups(project: Project) -> Path:
    folder = project.folder / BACKUPS
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise WorldError(f"The folder {folder} cannot be made: {error.strerror}.") from error
    return folder


def back_up_regularly(project: Project, seconds: float, stop: threading.Event) -> None:
    """Make one of the server's own backups so often, until it is stopped."""
    while not stop.wait(seconds):
        try:
            regular_backup(project)
        except (WorldError, OSError) as error:  # the next may succeed: a full disk is cleared, a mount comes back
            _LOG.error("no backup this time: %s", error)


def regular_backup(project: Project) -> Path:
    """Make one of the server's own backups, and remove those of its own that are no longer needed.

    Raises:
        WorldError, OSError: When it cannot be written.
    """
    made = backup(project)
    kept = made.rename(made.with_name(_OWN + made.name))
    for name in surplus(path.name for path in made.parent.iterdir()):
        (made.parent / name).unlink(missing_ok=True)
    return kept


def surplus(names: Iterable[str]) -> list[str]:
    """Backups that are no longer needed: of the server's own all but the newest, and the last of each day before.

    >>> surplus(["auto-2026-01-01T10.sqlite", "2026-01-01T11.sqlite"])
    []
    """
    own = sorted((name for name in names if name.startswith(_OWN)), reverse=True)
    days: set[str] = set()
    found = []
    for name in own[NEWEST:]:
        day = name.removeprefix(_OWN)[:10]
        if day in days:
            found.append(name)
        days.add(day)
    return found


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
    with locked(project, alone=True):
        put_back = _put_file_back if project.url.startswith("sqlite") else _put_dump_back
        study, kept = put_back(project, path, other_study)
        if study != project.study:
            database = "sqlite" if project.url.startswith("sqlite") else project.url
            write_settings(project.folder, database, study)
    return kept


def _put_dump_back(project: Project, path: Path, other_study: bool) -> tuple[str, Path]:
    """The study of a dump that was put in place, and a dump of what was there."""
    study = _study_of_dump(path)
    _check_study(project.study or _study_in(project.url), study, path, other_study)
    before = backup(project)
    command = ("pg_restore", "--clean", "--if-exists", "--single-transaction", f"--dbname={project.url}")
    _postgres(*command, str(path))
    return study, before


def _put_file_back(project: Project, path: Path, other_study: bool) -> tuple[str, Path | None]:
    """The study of a file that was put in place, and where the one that was there is now."""
    current = project.folder / SQLITE
    if current.exists() and current.samefile(path):
        raise UserError(f"{path} is the database itself; name a file of {project.folder / BACKUPS}.")
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
    return study, kept


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
    stem = _backups(project) / f"replaced-{_now()}"
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
            return study_of(conn)
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
            return study_of(conn)
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
        return study_id(bytes.fromhex(json.loads(secret)))
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
