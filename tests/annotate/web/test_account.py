"""A forgotten password: a link, made by an administrator, by which a new one is chosen."""

from __future__ import annotations

import re

import pytest
from starlette.testclient import TestClient
from tests.annotate.support import Clock, Running, running, study

from affectlab.annotate.serve import new_password
from affectlab.annotate.store import people
from affectlab.annotate.store.engine import Store
from affectlab.annotate.store.people import MOST_FAILURES, Newcomer
from affectlab.annotate.web.app import make_app
from affectlab.annotate.web.visit import COOKIE
from affectlab.errors import UserError

GLAD = {"mood": "glad", "strength": 3}
OLD, NEW = "an old password", "a new password"


@pytest.fixture
def run(store: Store) -> Running:
    run = running(store, study(), items=2)
    run.join("boss", "admin")
    with store.write() as conn:
        for name, hashed in (("ann", people.hash_password(OLD, cheap=True)), ("imported", "")):
            code = people.add_person(conn, Newcomer(name, hashed), "annotator", store.now())
            run.persons[name] = next(one for one in people.people(conn) if one.id == code)
    return run


def link(run: Running) -> str:
    page = run.client("boss").post("/admin/reset", data=run.form("boss", person=run.persons["ann"].id))
    found = re.search(r"<code>http://localhost(/reset/[^<]+)</code>", page.text)
    assert found
    return found[1]


def choose(run: Running, path: str, password: str) -> tuple[int, TestClient]:
    client = run.client("")
    token = re.search(r'name="csrf" value="([0-9a-f]+)"', client.get(path).text)
    assert token
    return client.post(path, data={"csrf": token[1], "password": password}).status_code, client


def knows(run: Running, password: str) -> bool:
    with run.store.write() as conn:
        return people.sign_in(conn, "ann", password, "here", run.store.now()) is not None


def test_a_link_lets_choose_a_new_one_and_the_work_stays(run: Running) -> None:
    run.submit("ann", str(run.claim("ann")), GLAD)
    lost = run.client("ann")
    assert lost.get("/mine").status_code == 200
    path = link(run)
    assert lost.get("/mine").status_code == 303  # the lost machine is signed out
    assert choose(run, path, "short")[0] == 409
    status, client = choose(run, path, NEW)
    assert status == 303
    assert "Text number" in client.get("/mine").text
    assert (knows(run, OLD), knows(run, NEW)) == (False, True)
    assert run.client("").get(path).status_code == 404  # once


def test_it_ends_after_a_week_and_cannot_be_made_up(run: Running, clock: Clock) -> None:
    path = link(run)
    person, until, sign = path.removeprefix("/reset/").split("~")
    nobody = run.client("")
    for forged in (
        f"{person}~{int(until) + 1}~{sign}",
        f"{run.persons['boss'].id}~{until}~{sign}",
        person,
        "~~",
        "~9",
    ):
        assert nobody.get(f"/reset/{forged}").status_code == 404, forged
    clock.time += people.RESET_SECONDS + 1
    assert nobody.get(path).status_code == 404


def test_tries_that_failed_are_forgotten(run: Running) -> None:
    for _ in range(MOST_FAILURES):
        assert not knows(run, "wrong guess")
    assert choose(run, link(run), NEW)[0] == 303
    assert knows(run, NEW)


def test_only_accounts_with_a_password_have_one_to_forget(run: Running) -> None:
    for person in (run.persons["imported"].id, "nobody"):
        assert run.client("boss").post("/admin/reset", data=run.form("boss", person=person)).status_code == 404
    assert run.client("ann").post("/admin/reset", data=run.form("ann", person="x")).status_code == 403
    for name, why in (("imported", "has no password"), ("nobody", "nobody's name")):
        with pytest.raises(UserError, match=why):
            new_password(run.store, name, "http://x")
    link = new_password(run.store, " ann ", "https://label.example.org/")
    assert link.startswith("https://label.example.org/reset/")
    assert run.client("").get(link.removeprefix("https://label.example.org")).status_code == 200


def test_links_are_those_of_the_proxy_that_ends_tls(run: Running) -> None:
    client = TestClient(make_app(run.store, secure=True), base_url="http://label.example.org")
    with run.store.write() as conn:
        people.make_invite(conn, "annotator", run.store.now())
        session = people.open_session(conn, run.persons["boss"].id, run.store.now())
    headers = {"cookie": f"{COOKIE}={session}"}
    assert "<code>https://label.example.org/invite/" in client.get("/admin", headers=headers).text
    form = run.form("boss", person=run.persons["ann"].id)
    assert "<code>https://label.example.org/reset/" in client.post("/admin/reset", data=form, headers=headers).text
