"""A project on disk: a folder with its settings, its SQLite file where it has one, and its backups."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy.engine import make_url

from affectlab.annotate.design import Design
from affectlab.annotate.store import project as stored
from affectlab.annotate.store.engine import Store, check_integrity, create_tables, database_url, open_store
from affectlab.annotate.units import Unit, unique
from affectlab.errors import UserError, WorldError

_SETTINGS = "project.json"
_SQLITE = "annotate.sqlite"


@dataclass(frozen=True)
class Project:
    """A project folder.

    Attributes:
        folder: The folder.
        url: Of the database, without a password.
    """

    folder: Path
    url: str

    @contextmanager
    def opened(self) -> Iterator[Store]:
        """The project's database, checked.

        Raises:
            UserError: When it holds no project, or one of another format.
            WorldError: When it cannot be opened or is damaged.
        """
        if self.url.startswith("sqlite") and not (self.folder / _SQLITE).exists():
            raise WorldError(f"{self.folder / _SQLITE} is gone. Get it back with: affectlab annotate restore")
        store = open_store(self.url)
        try:
            check_integrity(store)
            stored.check_format(store)
            yield store
        finally:
            store.close()


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
    return Project(path, database_url(path) if url == "sqlite" else url)


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
    path.mkdir(parents=True, exist_ok=True)
    project = Project(path, database or database_url(path))
    store = open_store(project.url)
    try:
        create_tables(store)
        with store.write() as conn:
            stored.start_project(conn, design, seed, store.now())
            stored.add_units(conn, design, kept, seed)
            stored.pair_up(conn, assignments)
    finally:
        store.close()
    (path / _SETTINGS).write_text(json.dumps({"database": database or "sqlite"}) + "\n", encoding="utf-8")
    return project, doubled


def backup(project: Project) -> Path:
    """A copy of the whole database as it is at one moment, while people work; returns the file.

    Raises:
        WorldError: When it cannot be written, or PostgreSQL's ``pg_dump`` is not there or fails.
    """
    folder = project.folder / "backups"
    folder.mkdir(exist_ok=True)
    stem = datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%S.%f")[:-3]
    if project.url.startswith("sqlite"):
        target = folder / f"{stem}.sqlite"
        try:
            with closing(sqlite3.connect(project.folder / _SQLITE)) as connection:
                connection.execute("VACUUM INTO ?", (str(target),))
        except sqlite3.Error as error:
            raise WorldError(f"The backup {target} could not be written: {error}") from error
        return target
    target = folder / f"{stem}.dump"
    _postgres("pg_dump", "--format=custom", f"--file={target}", f"--dbname={project.url}")
    return target


def restore(project: Project, source: str | Path) -> Path | None:
    """Put a backup in the place of the database; what was there is kept beside the backups, and its file returned.

    Stop the server first.

    Raises:
        UserError: When the file is no backup of an annotation project.
        WorldError: When it cannot be put in place.
    """
    path = Path(source)
    if not path.is_file():
        raise UserError(f"There is no backup {source}.")
    if not project.url.startswith("sqlite"):
        _postgres("pg_restore", "--clean", "--if-exists", "--single-transaction", f"--dbname={project.url}", str(path))
        return None
    _check_backup(path)
    current = project.folder / _SQLITE
    kept = None
    if current.exists():
        (project.folder / "backups").mkdir(exist_ok=True)
        kept = project.folder / "backups" / f"replaced-{datetime.now(UTC).strftime('%Y-%m-%dT%H-%M-%S')}.sqlite"
        current.replace(kept)
    for leftover in (f"{_SQLITE}-wal", f"{_SQLITE}-shm"):
        old = project.folder / leftover
        if old.exists():
            # Unmerged changes of the replaced file belong with it.
            old.replace(f"{kept}{leftover.removeprefix(_SQLITE)}") if kept else old.unlink()
    shutil.copyfile(path, current)
    return kept


def _check_backup(path: Path) -> None:
    try:
        check = open_store(f"sqlite:///{path}")
    except WorldError as error:
        raise UserError(f"{path} is no backup of an annotation project.") from error
    try:
        check_integrity(check)
        stored.check_format(check)
    finally:
        check.close()


def _postgres(*command: str) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own command
    except FileNotFoundError as error:
        raise WorldError(f"{command[0]} is not installed; it comes with PostgreSQL's client.") from error
    if done.returncode:
        raise WorldError(f"{command[0]} failed: {done.stderr.strip()}")
