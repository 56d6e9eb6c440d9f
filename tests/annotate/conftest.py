"""Databases for the tests: SQLite always, and a PostgreSQL server of our own where one is installed."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine

from affectlab.annotate.project import Project
from affectlab.annotate.store.engine import Store, create_tables, open_store
from tests.annotate.projects import made
from tests.annotate.support import Clock

NUMBERS = itertools.count()


def _binaries() -> Path | None:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return found[-1].parent if found else None


def _run(*command: str) -> None:
    # initdb and postgres refuse to work as root.
    as_user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    subprocess.run([*as_user, *command], check=True, capture_output=True, cwd="/", timeout=120)


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """URL of a PostgreSQL server's default database."""
    binaries = _binaries()
    if binaries is None or (os.geteuid() == 0 and shutil.which("runuser") is None):
        pytest.skip("needs PostgreSQL (apt-get install postgresql)")
    with tempfile.TemporaryDirectory(prefix="affectlab-pg-") as folder:
        place = Path(folder)
        place.chmod(0o777)
        data = place / "data"
        _run(str(binaries / "initdb"), "-D", str(data), "-A", "trust", "-U", "affectlab", "-E", "UTF8", "--no-sync")
        options = f"-c listen_addresses='' -c unix_socket_directories={place} -c fsync=off -c max_connections=200"
        control = str(binaries / "pg_ctl")
        _run(control, "-D", str(data), "-w", "-o", options, "-l", str(place / "log"), "start")
        try:
            yield f"postgresql:///postgres?host={place}&user=affectlab"
        finally:
            _run(control, "-D", str(data), "-m", "immediate", "stop")
            _run("rm", "-rf", str(data))


@pytest.fixture
def postgres_url(postgres: str) -> Iterator[str]:
    """URL of a fresh database."""
    name = f"test_{os.getpid()}_{next(NUMBERS)}"
    address = postgres.replace("postgresql:", "postgresql+psycopg:")
    engine = create_engine(address, isolation_level="AUTOCOMMIT")
    try:
        with engine.connect() as connection:
            connection.exec_driver_sql(f"CREATE DATABASE {name}")
        yield postgres.replace("/postgres?", f"/{name}?")
        with engine.connect() as connection:
            connection.exec_driver_sql(f"DROP DATABASE {name} WITH (FORCE)")
    finally:
        engine.dispose()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Iterator[Store]:
    """An empty store with tables, on both databases."""
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path / 'annotate.sqlite'}"
    else:
        url = request.getfixturevalue("postgres_url")
    yield from _opened(url, clock)


@pytest.fixture
def sqlite_store(tmp_path: Path, clock: Clock) -> Iterator[Store]:
    """An empty store with tables, on SQLite."""
    yield from _opened(f"sqlite:///{tmp_path / 'annotate.sqlite'}", clock)


def _opened(url: str, clock: Clock) -> Iterator[Store]:
    opened = open_store(url, clock)
    create_tables(opened)
    try:
        yield opened
    finally:
        opened.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Project:
    """A project of the small study in a folder, on both databases."""
    if request.param == "sqlite":
        return made(tmp_path / "p")
    url = request.getfixturevalue("postgres_url")
    if shutil.which("pg_dump") is None:
        pytest.skip("needs PostgreSQL's client (apt-get install postgresql-client)")
    return made(tmp_path / "p", url)
