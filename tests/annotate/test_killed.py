"""Eight people at once, everything sent twice, the server killed five times: no answer lost, none doubled."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import select

from affectlab.annotate.project import Project, init_project
from affectlab.annotate.store import tables as t
from tests.annotate.support import Running, study, texts

ITEMS, PEOPLE, KILLS = 400, 8, 5
SUBMITTING = Path(__file__).with_name("submitting.py")


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextmanager
def serving(project: Project, port: int) -> Iterator[subprocess.Popen[str]]:
    command = ["annotate", "serve", str(project.folder), "--port", str(port), "--backup-minutes", "0"]
    program = "from affectlab.cli.main import main; main()"
    server = subprocess.Popen([sys.executable, "-c", program, *command], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        assert "Ctrl-C" in server.stdout.readline()
        yield server
    finally:
        if server.poll() is None:
            os.kill(server.pid, signal.SIGKILL)
        server.wait()
        server.stdout.close()


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_no_answer_is_lost_and_none_doubled(request: pytest.FixtureRequest, tmp_path: Path, database: str) -> None:
    url = "" if database == "sqlite" else request.getfixturevalue("postgres_url")
    design = study()
    project, _ = init_project(tmp_path / "project", design, texts(design, ITEMS), database=url)
    port = free_port()
    people = []
    with project.opened() as store:
        run = Running(store, design)
        for number in range(PEOPLE):
            run.join(f"person {number}")
            with run.client(f"person {number}") as client:
                people.append((client.cookies["affectlab_session"], run.token(f"person {number}")))
    outs = [tmp_path / f"{number}.txt" for number in range(PEOPLE)]
    clients = [
        subprocess.Popen([sys.executable, "-S", str(SUBMITTING), str(port), cookie, csrf, str(out)])
        for (cookie, csrf), out in zip(people, outs, strict=True)
    ]
    try:
        for kill in range(KILLS + 1):
            with serving(project, port):
                wanted = ITEMS * 2 * (kill + 1) // (KILLS + 1)
                while kill < KILLS and told(outs) < 2 * wanted and any(one.poll() is None for one in clients):
                    time.sleep(0.02)
                if kill == KILLS:
                    for one in clients:
                        assert one.wait(timeout=900) == 0
    finally:
        for one in clients:
            if one.poll() is None:
                one.kill()
            one.wait()
    heard = [(number, line) for number, out in enumerate(outs) for line in out.read_text("utf-8").splitlines()]
    lines = [line for _, line in heard]
    assert [line for line in lines if line.startswith("error")] == []
    confirmed = Counter(
        (number, line) for number, out in enumerate(outs) for line in out.read_text("utf-8").splitlines()
    )
    assert set(confirmed.values()) == {1, 2}  # "end" once, everything else twice
    with project.opened() as store, store.read() as conn:
        rows = conn.execute(select(t.response.c.item, t.response.c.person, t.response.c.version)).all()
        taken = set(conn.execute(select(t.item.c.taken)).scalars())
    assert len(rows) == 2 * ITEMS
    assert {row.version for row in rows} == {1}
    assert len({(row.item, row.person) for row in rows}) == 2 * ITEMS
    assert set(Counter(row.item for row in rows).values()) == {2}
    assert taken == {2}
    assert len([line for line in lines if line.startswith("done")]) == 2 * len(rows)


def told(outs: list[Path]) -> int:
    """Answers confirmed so far."""
    return sum(out.read_bytes().count(b"done") for out in outs if out.exists())
