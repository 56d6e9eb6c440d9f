"""Serving: the address people get, and the server's own backups."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from affectlab.annotate import serve
from affectlab.annotate.backups import backup
from affectlab.annotate.project import Project, init_project
from affectlab.annotate.serve import NEWEST, address_of, back_up, surplus
from affectlab.errors import UserError
from tests.annotate.support import study, texts


@pytest.mark.parametrize(
    ("host", "public", "address"),
    [
        ("127.0.0.1", "", "http://127.0.0.1:8765"),
        ("::1", "", "http://[::1]:8765"),
        ("label.local", "", "http://label.local:8765"),
        ("0.0.0.0", "https://label.example.org/", "https://label.example.org"),
    ],
)
def test_links_hold_the_address_that_people_use(host: str, public: str, address: str) -> None:
    assert address_of(host, 8765, public) == address


@pytest.mark.parametrize("host", ["0.0.0.0", "::", ""])
def test_where_it_listens_everywhere_one_must_say_where_it_is(host: str) -> None:
    with pytest.raises(UserError, match="--public http://ADDRESS:8765"):
        address_of(host, 8765)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return init_project(tmp_path / "p", study(), texts(study(), 1))[0]


def test_of_the_servers_own_backups_the_newest_stay_and_one_of_each_day_before() -> None:
    days = [f"auto-2026-01-{day:02}T{hour:02}-30-00.000.sqlite" for day in (1, 2) for hour in range(4)]
    newest = [f"auto-2026-01-03T{hour:02}-{half}-00.000.sqlite" for hour in range(24) for half in ("00", "30")]
    others = ["2026-01-01T00-00-00.000.sqlite", "replaced-2026-01-01T00-00-00.000.sqlite"]
    assert len(newest) == NEWEST
    # Of the first and the second day the last, made at 03:30, stays; what people made by hand is theirs.
    assert sorted(surplus([*others, *newest, *days])) == [*days[:3], *days[4:7]]


def test_a_backup_of_the_server_removes_only_its_own(project: Project) -> None:
    by_hand = backup(project)
    old = [by_hand.with_name(f"auto-2020-01-01T00-00-{second:02}.000.sqlite") for second in range(NEWEST + 2)]
    for path in old:
        path.write_bytes(b"")
    made = back_up(project)
    assert made.read_bytes().startswith(b"SQLite format 3")
    there = set(made.parent.iterdir())
    # NEWEST are kept with the new one; of the three that are left over the newest of their day stays.
    assert {*old[2:], made, by_hand} == there


def test_backups_go_on_after_one_that_could_not_be_made(
    project: Project, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project.folder / "backups").write_text("in the way")
    tried = 0
    stop = threading.Event()

    def once_more(found: Project) -> Path:
        nonlocal tried
        tried += 1
        if tried == 2:
            (project.folder / "backups").unlink()
        if tried == 3:
            stop.set()
            raise OSError("disk away")
        return back_up(found)

    monkeypatch.setattr(serve, "back_up", once_more)
    serve._backups(project, 0, stop)
    assert tried == 3
    assert len(list((project.folder / "backups").iterdir())) == 1
    assert [record.message.startswith("no backup this time") for record in caplog.records] == [True, True]
