"""What the pages refuse: others' answers, forged cookies, forms without token, wrong roles, large bodies."""

from __future__ import annotations

import re

import pytest
from starlette.testclient import TestClient
from tests.annotate.support import Clock, Running, running, study

from affectlab.annotate.store import people, project
from affectlab.annotate.store.engine import Store
from affectlab.annotate.store.people import MOST_FAILURES, Newcomer
from affectlab.annotate.units import make_unit
from affectlab.annotate.web.app import make_app
from affectlab.annotate.web.visit import COOKIE, MOST_BYTES, inside

GLAD = {"mood": "glad", "strength": 3}
SECRET = "a secret thought of ann"
EVIL = '<script>alert("x")</script><img src=x onerror=alert(1)>'

ITEM_PATHS = ("/item/{}", "/draft/{}", "/skip/{}", "/adjudicate/mood/{}", "/note/{}")
GET_PATHS = (
    "/item/{}",
    "/adjudicate",
    "/adjudicate/mood/{}",
    "/mine",
    "/admin",
    "/admin/people/{person}",
    "/admin/agreement",
    "/admin/items/{}",
    "/admin/files/long.csv",
    "/admin/files/long.jsonl",
    "/admin/files/wide.csv",
    "/admin/files/gold.csv",
    "/admin/files/gold.jsonl",
    "/work",
)


@pytest.fixture
def two(sqlite_store: Store) -> Running:
    """Ann has answered all items; Bob has not begun."""
    run = running(sqlite_store, study(), items=3)
    for name, role in (("bob", "annotator"), ("judge", "adjudicator"), ("boss", "admin")):
        run.join(name, role)
    run.persons["ann"] = run.join("annabelle")
    while (item := run.claim("ann")) is not None:
        run.submit("ann", item, {**GLAD, "why": SECRET})
    return run


def test_another_annotators_answers_are_reachable_by_no_route(two: Running) -> None:
    bob, ann = two.client("bob"), two.persons["ann"]
    for path in GET_PATHS:
        asked = path.format("i0", person=ann.id)
        answer = bob.get(asked).text.replace(asked, "")  # a page may say under which address it was asked for
        for trace in (SECRET, ann.name, ann.id, "checked"):
            assert trace not in answer, path
    assert bob.get("/work").status_code == 303
    assert SECRET not in bob.get(bob.get("/work").headers["location"]).text


def test_items_that_are_not_ones_own_can_neither_be_read_nor_written(two: Running) -> None:
    bob = two.client("bob")
    for path in ITEM_PATHS:
        answer = bob.post(path.format("i1"), data=two.form("bob", s__mood="sad", s__strength="1", reason="unclear"))
        assert answer.status_code in {403, 404, 405, 409}, path
    assert bob.get("/item/i1").status_code == 404
    with two.store.read() as conn:
        assert set(conn.exec_driver_sql("SELECT person FROM response").scalars()) == {two.persons["ann"].id}


@pytest.mark.parametrize("name", ["bob", "judge"])
@pytest.mark.parametrize("path", [one for one in GET_PATHS if one.startswith("/admin")])
def test_only_admins_see_the_project(two: Running, name: str, path: str) -> None:
    assert two.client(name).get(path.format("i0", person=two.persons["ann"].id)).status_code == 403
    assert two.client("boss").get(path.format("i0", person=two.persons["ann"].id)).status_code == 200


def test_wrong_roles_may_not_do_anything_either(two: Running) -> None:
    assert two.client("bob").post("/admin/invite", data=two.form("bob", role="admin")).status_code == 403
    assert two.client("boss").post("/item/i0", data=two.form("boss")).status_code == 403
    assert two.client("judge").get("/adjudicate/mood/i0").status_code == 404  # not complete: nothing to see yet


@pytest.mark.parametrize("cookie", ["", "forged", "x" * 5000, "../../etc/passwd", "é".encode().decode("latin-1")])
def test_a_forged_cookie_is_nobody(two: Running, cookie: str) -> None:
    client = two.client("")
    headers = {b"cookie": f"{COOKIE}={cookie}".encode("latin-1")}
    assert client.get("/mine", headers=headers).headers["location"].startswith("/login")
    assert client.post("/draft/i0", headers=headers, data={"csrf": "x"}).status_code == 401


def test_a_session_ends(two: Running, clock: Clock) -> None:
    client = two.client("ann")
    assert client.get("/mine").status_code == 200
    clock.time += people.SESSION_SECONDS + 1
    assert client.get("/mine").status_code == 303
    assert client.post("/draft/i0", data=two.form("ann")).status_code == 401


def test_signing_out_ends_the_session_on_the_server(two: Running) -> None:
    client = two.client("ann")
    token = client.cookies[COOKIE]
    assert client.post("/logout", data={"csrf": two.token("ann")}).status_code == 303
    again = two.client("")
    again.cookies.set(COOKIE, token)
    assert again.get("/mine").status_code == 303


@pytest.mark.parametrize("token", [None, "", "wrong", "of bob"])
def test_forms_without_the_persons_token_are_refused(two: Running, token: str | None) -> None:
    fields = two.form("ann", s__mood="sad", s__strength="1")
    fields["csrf"] = two.token("bob") if token == "of bob" else token
    if token is None:
        del fields["csrf"]
    for path in ("/item/i0", "/draft/i0", "/skip/i0", "/me", "/logout"):
        assert two.client("ann").post(path, data=fields).status_code == 403


def test_sign_in_forms_need_their_token_too(two: Running) -> None:
    client = two.client("")
    assert client.post("/login", data={"name": "ann", "password": "whatever-1"}).status_code == 403


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_forms_from_other_sites_are_refused(two: Running, headers: dict[str, str]) -> None:
    answer = two.client("ann").post("/item/i0", data=two.form("ann", s__mood="sad", s__strength="1"), headers=headers)
    assert answer.status_code == 403


def test_other_host_names_are_refused(two: Running) -> None:
    client = TestClient(make_app(two.store, hosts=["localhost"]), base_url="http://evil.example")
    assert client.get("/login").status_code == 400


def test_a_ten_megabyte_field_is_refused_and_nothing_is_kept(two: Running) -> None:
    client = two.client("ann")
    big = two.form("ann", s__mood="glad", s__strength="1", s__why="x" * 10_000_000)
    for path in ("/item/i0", "/draft/i0"):
        assert client.post(path, data=big).status_code == 413
    assert client.post("/login", content=b"x" * (MOST_BYTES + 1)).status_code == 413
    with two.store.read() as conn:
        assert conn.exec_driver_sql("SELECT max(length(body)) FROM response").scalar_one() < 1000


@pytest.mark.parametrize("body", [b"\xff\xfe=1", b"a=1&" * 5000, b"%ff%fe=%00"])
def test_bodies_that_are_no_form_are_refused(two: Running, body: bytes) -> None:
    answer = two.client("ann").post("/item/i0", content=body)
    assert answer.status_code in {400, 403}


@pytest.mark.parametrize(
    "name", ["..%2f..%2fetc%2fpasswd", "../annotate.sqlite", "long.csv%00", "nothing.csv", "%2e%2e%2fproject.json"]
)
def test_only_files_that_are_offered_can_be_fetched(two: Running, name: str) -> None:
    answer = two.client("boss").get(f"/admin/files/{name}")
    assert answer.status_code == 404
    assert "root:" not in answer.text


@pytest.mark.parametrize("path", ["/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2f..%2fstore/tables.py"])
def test_static_files_are_those_of_their_folder(two: Running, path: str) -> None:
    assert two.client("").get(path).status_code == 404


def test_everything_people_or_items_say_is_escaped(sqlite_store: Store) -> None:
    run = running(sqlite_store, study(), items=0)
    with sqlite_store.write() as conn:
        unit = make_unit(run.design, "evil/../<b>", {"text": EVIL}, {"domain": EVIL})
        project.add_units(conn, run.design, [unit], 0)
    for name in ("ann", "bob"):
        run.join(f"{name}{EVIL[:20]}")
        run.persons[name] = run.persons[f"{name}{EVIL[:20]}"]
    run.join("judge", "adjudicator")
    run.join("boss", "admin")
    for name, mood in (("ann", "glad"), ("bob", "sad")):
        client = run.client(name)
        path = client.get("/work").headers["location"]
        fields = run.form(name, s__mood=mood, s__strength="2", s__why=EVIL, comment=EVIL, flag="1")
        assert client.post(path, data=fields).status_code == 303
        pages = [client.get(path).text, client.get("/mine").text]
        assert client.post(path, data={**fields, "s.mood": EVIL}).status_code == 422
        pages.append(client.post(path, data={**fields, "s.mood": EVIL, "s.strength": EVIL}).text)
    judge, boss = run.client("judge"), run.client("boss")
    queue = judge.get("/adjudicate").text
    (path, *_) = re.findall(r'href="(/adjudicate/[^"]+)"', queue.split("<ol", 1)[1])
    judge.post(path.replace("/adjudicate/mood", "/note"), data=run.form("judge", slot="mood", note=EVIL))
    about = path.replace("/adjudicate/mood", "/admin/items")
    pages += [queue, judge.get(path).text, *(boss.get(one).text for one in ("/admin", "/admin/agreement", about))]
    pages += [boss.get(f"/admin/people/{one.id}").text for one in run.persons.values()]
    pages.append(run.client("").get(f"/login?next={EVIL}").text)
    for page in pages:
        assert "<script>alert" not in page
        assert "<img src=x" not in page
    assert "&lt;script&gt;" in pages[0]


def test_pages_allow_no_script_of_others_and_no_framing(two: Running) -> None:
    for client in (two.client("ann"), two.client("")):
        for path in ("/mine", "/login", "/nowhere"):
            headers = client.get(path).headers
            policy = headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            assert "frame-ancestors 'none'" in policy
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["cache-control"] == "no-store"


def test_pages_ask_nothing_of_third_parties(two: Running) -> None:
    pages = [
        two.client("boss").get("/admin").text,
        two.client("").get("/login").text,
        two.client("ann").get("/item/i0").text,
    ]
    for page in pages:
        found = re.findall(r'(?:src|href|action)="(https?:)?//', page)
        assert found == []
        assert not re.search(r"<script(?![^>]*src=)|\son\w+=|style=", page)


class TestPasswords:
    @pytest.fixture
    def site(self, sqlite_store: Store) -> Running:
        run = running(sqlite_store, study(), items=1)
        with sqlite_store.write() as conn:
            newcomer = Newcomer("ann", people.hash_password("right password", cheap=True))
            people.add_person(conn, newcomer, "annotator", sqlite_store.now())
        return run

    def sign_in(self, client: TestClient, name: str, password: str, going: str = "/") -> int:
        page = client.get("/login", params={"next": going}).text
        found = re.search(r'name="csrf" value="(\w+)"', page)
        assert found
        answer = client.post("/login", data={"csrf": found[1], "name": name, "password": password, "next": going})
        self.answer = answer
        return answer.status_code

    def test_signing_in_sets_a_cookie_that_scripts_and_other_sites_do_not_get(self, site: Running) -> None:
        client = site.client("")
        assert self.sign_in(client, "ann", "right password") == 303
        cookie = self.answer.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=lax" in cookie
        assert client.get("/mine").status_code == 200

    def test_wrong_passwords_and_unknown_names_look_the_same(self, site: Running) -> None:
        client = site.client("")
        assert self.sign_in(client, "ann", "wrong password") == 403
        known = re.sub(r'value="[^"]*"', "", self.answer.text)
        assert self.sign_in(client, "nobody", "wrong password") == 403
        assert re.sub(r'value="[^"]*"', "", self.answer.text) == known

    def test_guessing_ends_after_some_tries_and_begins_again_later(self, site: Running, clock: Clock) -> None:
        client = site.client("")
        for _ in range(MOST_FAILURES):
            assert self.sign_in(client, "ann", "wrong password") == 403
        assert self.sign_in(client, "ann", "right password") == 429
        clock.time += people.FAILURE_SECONDS + 1
        assert self.sign_in(client, "ann", "right password") == 303

    @pytest.mark.parametrize(
        "going", ["https://evil.example", "//evil.example", "/\\evil.example", "javascript:alert(1)"]
    )
    def test_signing_in_leads_nowhere_else(self, site: Running, going: str) -> None:
        assert self.sign_in(site.client(""), "ann", "right password", going) == 303
        assert self.answer.headers["location"] == "/"

    def test_passwords_are_hashed_with_argon2(self, site: Running) -> None:
        with site.store.read() as conn:
            (kept,) = conn.exec_driver_sql("SELECT password FROM person").scalars()
        assert kept.startswith("$argon2id$")

    def test_an_invitation_makes_one_account(self, site: Running) -> None:
        with site.store.write() as conn:
            invite = people.make_invite(conn, "annotator", site.store.now())
            token = people.invite_token(project.secret_of(conn), invite)
        client = site.client("")
        page = client.get(f"/invite/{token}").text
        found = re.search(r'name="csrf" value="(\w+)"', page)
        assert found
        fields = {"csrf": found[1], "name": "cy", "password": "short", "language": "zh"}
        assert "8 to 256" in client.post(f"/invite/{token}", data=fields).text
        fields |= {"password": "long enough"}
        assert "taken" in client.post(f"/invite/{token}", data={**fields, "name": " ann "}).text
        assert client.post(f"/invite/{token}", data=fields).status_code == 303
        assert "退出" in client.get("/mine").text
        assert site.client("").get(f"/invite/{token}").status_code == 404

    @pytest.mark.parametrize("token", ["nothing", "0123456789abcdef-" + "0" * 32, "-", "é"])
    def test_a_forged_invitation_opens_nothing(self, site: Running, token: str) -> None:
        assert site.client("").get(f"/invite/{token}").status_code == 404


@pytest.mark.parametrize(
    "path", ["//evil.example", "/\\evil.example", "https://evil.example", "/\t/evil.example", "/a\r\nb", ""]
)
def test_signing_in_leads_to_no_other_site(path: str) -> None:
    assert inside(path, "/home") == "/home"


def test_signing_in_leads_on_within_the_site() -> None:
    assert inside("/item/情绪-1?lang=zh", "/home") == "/item/情绪-1?lang=zh"


def test_nul_breaks_nothing(store: Store) -> None:
    run = running(store, study(), items=1)
    run.join("ann")
    run.claim("ann")
    ann, nobody = run.client("ann"), run.client("")
    answer = {"s__mood": "glad", "s__strength": "3"}
    found = [
        ann.get("/item/a%00b"),
        ann.post("/draft/a%00b", data=run.form("ann")),
        ann.post("/item/i0", data=run.form("ann", **answer) | {"submit_key": "a\x00" * 10}),
        ann.post("/keep", data=run.form("ann", kept="stage:a\x00b", answer="a\x00b")),
    ]
    assert max(one.status_code for one in found) < 500
    token = re.search(r'name="csrf" value="([0-9a-f]+)"', nobody.get("/login").text)
    assert token
    form = {"csrf": token[1], "name": "a\x00b", "password": "a\x00b" * 4}
    assert nobody.post("/login", data=form).status_code in {400, 403}
    assert ann.post("/draft/i0", data=run.form("ann", s__why="one\x00two")).status_code == 200
    assert "onetwo" in ann.get("/item/i0").text
