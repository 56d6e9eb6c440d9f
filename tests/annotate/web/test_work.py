"""Labelling through the pages: drafts, answers, skipping, going back, stages, languages."""

from __future__ import annotations

import re
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient
from tests.annotate.support import STUDY, Clock, Running, running, study

from affectlab.annotate.store import drafts, panels, project, replies
from affectlab.annotate.store.engine import Store
from affectlab.annotate.values import NONE

STAGES = """
[consent]
en = "You may stop at any time."

[instructions]
en = "Do this."

[training]
text = "Practise."
pass_mark = 0.5
attempts = 2

[[training.items]]
id = "train-1"
fields = { text = "She smiled." }
expected = { mood = "glad", strength = 2 }
explanation = "A smile."
"""


@pytest.fixture
def run(sqlite_store: Store) -> Running:
    found = running(sqlite_store, study(), items=4)
    found.join("ann")
    found.join("bob")
    return found


def begin(run: Running, name: str = "ann") -> tuple[TestClient, str]:
    """A signed-in browser, and the path of the first item."""
    client = run.client(name)
    return client, client.get("/work").headers["location"]


def checked(page: str) -> list[str]:
    return re.findall(r'value="([^"]*)" checked', page)


def test_a_draft_is_on_the_page_after_a_reload_and_is_not_submitted(run: Running) -> None:
    client, path = begin(run)
    draft = path.replace("/item/", "/draft/")
    answer = client.post(draft, data=run.form("ann", s__mood="sad", s__why="悲伤 because\r\nso", rev="0"))
    assert "Saved" in answer.text
    assert 'name="rev" value="1"' in answer.text
    page = client.get(path).text
    assert checked(page) == ["sad"]
    assert "悲伤 because\nso</textarea>" in page
    assert "not submitted" in page
    with run.store.read() as conn:
        assert replies.current(conn) == []


def test_what_is_missing_is_named_and_what_was_said_stays(run: Running) -> None:
    client, path = begin(run)
    answer = client.post(path, data=run.form("ann", s__mood="sad", s__why="as I said"))
    assert answer.status_code == 422
    assert checked(answer.text) == ["sad"]
    assert "as I said</textarea>" in answer.text
    assert "Please answer this." in answer.text


@pytest.mark.parametrize("value", ["happy", "", "glad' OR 1=1", "sad\x00"])
def test_values_that_are_not_offered_are_refused(run: Running, value: str) -> None:
    client, path = begin(run)
    assert client.post(path, data=run.form("ann", s__mood=value, s__strength="2")).status_code == 422
    assert client.post(path, data=run.form("ann", s__mood="sad", s__strength="6")).status_code == 422


def test_the_same_submit_twice_goes_on_twice_and_is_stored_once(run: Running) -> None:
    client, path = begin(run)
    form = run.form("ann", s__mood="sad", s__strength="2")
    answers = [client.post(path, data=form) for _ in range(2)]
    assert [one.status_code for one in answers] == [303, 303]
    with run.store.read() as conn:
        assert [one.version for one in replies.current(conn)] == [1]


def test_an_answer_is_changed_by_going_back(run: Running) -> None:
    client, path = begin(run)
    client.post(path, data=run.form("ann", s__mood="sad", s__strength="2"))
    following = client.get("/work").headers["location"]
    page = client.get(following).text
    assert f'id="back" href="{path}"' in page
    back = client.get(path).text
    assert checked(back) == ["sad", "2"]
    assert "Submit changes" in back
    client.post(path, data=run.form("ann", s__mood="glad", s__strength="5"))
    assert checked(client.get(path).text) == ["glad", "5"]


def test_a_draft_over_an_answer_is_shown_as_such_and_the_answer_stands(run: Running) -> None:
    client, path = begin(run)
    client.post(path, data=run.form("ann", s__mood="sad", s__strength="2"))
    client.post(path.replace("/item/", "/draft/"), data=run.form("ann", s__mood="glad", s__strength="2", rev="0"))
    page = client.get(path).text
    assert "Changes are not submitted" in page
    assert checked(page) == ["glad", "2"]
    with run.store.read() as conn:
        assert [one.reply.values["mood"] for one in replies.current(conn)] == ["sad"]


def test_renamed_labels_stay_chosen_in_answers_and_drafts(store: Store) -> None:
    run = running(store, study(), items=2)
    run.join("ann")
    client, answered = begin(run)
    client.post(answered, data=run.form("ann", s__mood="glad", s__strength="4"))
    _, begun = begin(run)
    client.post(begun.replace("/item/", "/draft/"), data=run.form("ann", s__mood="glad", s__strength="2", rev="0"))
    with store.write() as conn:
        new = study(STUDY.replace('id = "glad"', 'id = "happy"'), version=2)
        project.replace_design(conn, new, {"mood": {"glad": "happy"}}, store.now())
    assert checked(client.get(answered).text) == ["happy", "4"]
    assert checked(client.get(begun).text) == ["happy", "2"]


def test_a_draft_that_arrives_after_its_own_submit_changes_nothing(run: Running) -> None:
    client, path = begin(run)
    form = run.form("ann", s__mood="sad", s__strength="2", rev="0")
    client.post(path, data=form)
    assert client.post(path.replace("/item/", "/draft/"), data=form).status_code == 200
    assert "Changes are not submitted" not in client.get(path).text


def test_skipping_needs_a_reason_and_can_be_taken_back(run: Running) -> None:
    client, path = begin(run)
    skip = path.replace("/item/", "/skip/")
    assert client.post(skip, data=run.form("ann", s__mood="sad")).status_code == 422
    assert client.post(skip, data=run.form("ann", reason="broken", comment="half a text")).status_code == 303
    assert "Left out" in client.get("/mine").text
    with run.store.read() as conn:
        (now,) = replies.current(conn)
    assert (now.reply.skipped, now.reply.comment, now.reply.values) == ("broken", "half a text", {})
    client.post(path, data=run.form("ann", s__mood="sad", s__strength="2"))
    with run.store.read() as conn:
        (now,) = replies.current(conn)
    assert now.reply.skipped == ""


def test_a_comment_belongs_to_its_item(run: Running) -> None:
    client, first = begin(run)
    client.post(first, data=run.form("ann", s__mood="sad", s__strength="2", comment="about the first", flag="1"))
    second = client.get("/work").headers["location"]
    assert "about the first" not in client.get(second).text
    with run.store.read() as conn:
        (now,) = replies.current(conn)
    assert f"/item/{now.item}" == first
    assert (now.reply.comment, now.reply.flag) == ("about the first", True)


def test_a_late_answer_is_told_and_its_draft_stays(sqlite_store: Store, clock: Clock) -> None:
    run = running(sqlite_store, study(overlap=1, lease_minutes=5), items=1)
    run.join("ann")
    run.join("bob")
    client, path = begin(run)
    form = run.form("ann", s__mood="sad", s__strength="2", rev="0")
    client.post("/draft/i0", data=form)
    clock.time += 301
    other, theirs = begin(run, "bob")
    assert theirs == path
    other.post(path, data=run.form("bob", s__mood="glad", s__strength="2"))
    answer = client.post(path, data=form)
    assert answer.status_code == 409
    assert "Not counted" in answer.text
    with run.store.read() as conn:
        kept, _ = drafts.read_draft(conn, "i0", run.persons["ann"].id)
    assert kept is not None
    assert kept.values == {"mood": "sad", "strength": 2}


def test_times_are_kept_and_wrong_ones_are_not(run: Running) -> None:
    client, path = begin(run)
    client.post(path, data=run.form("ann", s__mood="sad", s__strength="2", active_ms="4200", elapsed_ms="-5"))
    with run.store.read() as conn:
        (now,) = replies.current(conn)
    assert (now.measured.active_ms, now.measured.elapsed_ms, now.measured.typing) == (4200, None, None)


@pytest.mark.parametrize("number", ["nan", "inf", "-1e999", "1_0", "seven"])
def test_what_is_no_number_is_kept_as_a_draft_and_not_submitted(store: Store, number: str) -> None:
    slot = '[[slots]]\nid = "n"\nkind = "number"\ntitle = "How many?"\nrequired = false\n'
    run = running(store, study(STUDY + slot), items=1)
    run.join("ann")
    client, path = begin(run)
    form = run.form("ann", s__mood="glad", s__strength="2", s__n=number, rev="0")
    assert client.post(path.replace("item", "draft"), data=form).status_code == 200
    assert f'value="{number}"' in client.get(path).text
    assert client.post(path, data=form).status_code == 422


def test_ids_may_hold_anything(sqlite_store: Store) -> None:
    from affectlab.annotate.store import project
    from affectlab.annotate.units import make_unit

    run = running(sqlite_store, study(), items=0)
    run.join("ann")
    name = "a/b ?#%é😢"
    with sqlite_store.write() as conn:
        project.add_units(conn, run.design, [make_unit(run.design, name, {"text": "Text."})], 0)
    client, path = begin(run)
    assert path == f"/item/{quote(name, safe='')}"
    assert client.post(path, data=run.form("ann", s__mood="sad", s__strength="2")).status_code == 303


def test_when_nothing_is_left_the_page_says_so(run: Running) -> None:
    run.answer_all("ann", {"mood": "sad", "strength": 1})
    page = run.client("ann").get("/work")
    assert "nothing left" in page.text
    assert "4 done" in page.text


def test_pages_speak_the_persons_language(run: Running) -> None:
    client, path = begin(run)
    assert 'lang="en"' in client.get(path).text
    client.post("/me", data={"csrf": run.token("ann"), "language": "zh", "next": path})
    page = client.get(path).text
    assert '<html lang="zh">' in page
    assert "一项研究" in page
    assert "提交" in page
    nobody = run.client("")
    assert "登录" in nobody.get("/login", headers={"accept-language": "zh-CN,zh;q=0.9"}).text


class TestStages:
    @pytest.fixture
    def staged(self, sqlite_store: Store) -> Running:
        design = study(STUDY + STAGES)
        run = running(sqlite_store, design, items=2)
        run.join("ann")
        return run

    def test_they_come_in_order_and_only_when_due(self, staged: Running) -> None:
        client = staged.client("ann")
        assert client.get("/work").headers["location"] == "/stage/consent"
        assert client.get("/stage/training").headers["location"] == "/work"
        client.post("/stage/consent", data=staged.form("ann", agree="no"))
        assert "did not agree" in client.get("/stage/consent").text
        client.post("/stage/consent", data=staged.form("ann", agree="yes"))
        assert client.get("/work").headers["location"] == "/stage/instructions"
        client.post("/stage/instructions", data=staged.form("ann"))
        assert client.get("/work").headers["location"] == "/stage/training"

    def test_training_is_passed_by_enough_right_answers(self, staged: Running) -> None:
        client = self.at_training(staged)
        right = {"t__train-1__s__mood": "glad", "t__train-1__s__strength": "5"}
        assert client.post("/stage/training", data=staged.form("ann")).status_code == 422
        page = client.post("/stage/training", data=staged.form("ann", **right)).text
        assert "1 of 2 answers were right" in page
        assert "Expected: 2" in page
        assert "A smile." in page
        assert client.get("/work").headers["location"].startswith("/item/")

    def test_training_ends_after_its_rounds(self, staged: Running) -> None:
        client = self.at_training(staged)
        wrong = {"t__train-1__s__mood": "sad", "t__train-1__s__strength": "5"}
        assert "try again" in client.post("/stage/training", data=staged.form("ann", **wrong)).text
        assert "used up" in client.post("/stage/training", data=staged.form("ann", **wrong)).text
        assert client.get("/stage/training").status_code == 403
        right = {"t__train-1__s__mood": "glad", "t__train-1__s__strength": "2"}
        assert client.post("/stage/training", data=staged.form("ann", **right)).status_code == 403

    def at_training(self, staged: Running) -> TestClient:
        client = staged.client("ann")
        client.post("/stage/consent", data=staged.form("ann", agree="yes"))
        client.post("/stage/instructions", data=staged.form("ann"))
        return client

    def test_questionnaires_are_kept_with_their_scores(self, sqlite_store: Store) -> None:
        from affectlab.annotate.design_file import read_design

        asked = [one for one in read_design("care").questionnaires if one.id == "bigfive10"]
        design = study(questionnaires=[one.model_dump(mode="json") for one in asked])
        run = running(sqlite_store, design, items=1)
        ann = run.join("ann")
        client = run.client("ann")
        assert client.get("/work").headers["location"] == "/stage/q.bigfive10"
        form = run.form("ann") | {f"s.{slot.id}": "4" for slot in asked[0].slots}
        assert client.post("/stage/q.bigfive10", data={**form, "s.worries": ""}).status_code == 422
        assert client.post("/stage/q.bigfive10", data={**form, "s.worries": "5"}).status_code == 303
        with run.store.read() as conn:
            (kept,) = panels.stages_of(conn, ann.id)["q.bigfive10"]
        # One statement says 4, its opposite 4 as well, turned round 1 + 5 - 4 = 2: mean 3. Worries 5: (5 + 2) / 2.
        assert kept["scores"] == {
            "extraversion": 3.0,
            "agreeableness": 3.0,
            "conscientiousness": 3.0,
            "neuroticism": 3.5,
            "openness": 3.0,
        }


SETS = """
name = "sets"
title = "Sets"
typing = true
skip_reasons = [{ id = "unclear", names = "unclear" }]
guidelines = { version = "1", text = "Read." }
shown = [{ field = "text", main = true }]

[[slots]]
id = "emotions"
kind = "label_set"
title = "Which?"
labels = "plutchik8"
intensities = ["slight", "strong"]

[[slots]]
id = "evidence"
kind = "span"
field = "text"
title = "Where?"
required = false
"""


class TestSets:
    @pytest.fixture
    def sets(self, sqlite_store: Store) -> Running:
        run = running(sqlite_store, study(SETS), items=1)
        run.join("ann")
        return run

    def test_a_set_has_an_intensity_for_each_label(self, sets: Running) -> None:
        client, path = begin(sets)
        form = sets.form("ann", s__emotions=["fear", "joy"], i__emotions__joy="2")
        assert "how strong" in client.post(path, data=form).text
        assert client.post(path, data={**form, "i.emotions.fear": "1", "s.evidence": ["0-4"]}).status_code == 303
        with sets.store.read() as conn:
            (now,) = replies.current(conn)
        assert list(now.reply.values["emotions"].items()) == [("joy", 2), ("fear", 1)]
        assert now.reply.values["evidence"] == [{"start": 0, "end": 4, "text": "Text"}]

    def test_none_of_them_is_an_answer_and_nothing_is_none(self, sets: Running) -> None:
        client, path = begin(sets)
        assert client.post(path, data=sets.form("ann")).status_code == 422
        assert client.post(path, data=sets.form("ann", s__emotions=NONE)).status_code == 303
        with sets.store.read() as conn:
            (now,) = replies.current(conn)
        assert now.reply.values["emotions"] == {}

    @pytest.mark.parametrize("span", ["4-4", "0-999", "-1-3", "3-1", "a-b", "0-4-5", "0-99999999999999"])
    def test_marks_must_lie_in_the_text(self, sets: Running, span: str) -> None:
        client, path = begin(sets)
        form = sets.form("ann", s__emotions=NONE, s__evidence=[span])
        assert client.post(path, data=form).status_code == 422

    def test_the_rhythm_of_typing_is_kept_only_from_those_who_agreed(self, sets: Running) -> None:
        client, path = begin(sets)
        form = sets.form("ann", s__emotions=NONE, typing_log='[["insert", 120, 1]]')
        client.post(path, data=form)
        client.post("/me", data={"csrf": sets.token("ann"), "typing": "yes"})
        assert "recorded" in client.get(path).text
        client.post(path, data=form | {"submit_key": "another-window-0000"})
        client.post(path, data=form | {"submit_key": "a-third-window-00000", "typing_log": '[["the letters", 1, 1]]'})
        with sets.store.read() as conn:
            kept = [one.measured.typing for one in replies.history(conn, "i0", sets.persons["ann"].id)]
        assert kept == [None, [["insert", 120, 1]], None]


def test_adjudicators_are_led_to_adjudication_and_told_that_labelling_is_labelling(sqlite_store: Store) -> None:
    run = running(sqlite_store, study())
    run.join("ann")
    run.join("judge", "adjudicator")
    assert run.client("judge").get("/").headers["location"] == "/adjudicate"
    top = run.client("judge").get("/adjudicate").text.split("<main", 1)[0]
    assert re.findall(r'<a href="(/[a-z]+)">([^<]+)</a>', top) == [
        ("/adjudicate", "Adjudication"),
        ("/work", "Label items too"),
        ("/mine", "My items"),
    ]
    assert "Label items too" not in run.client("ann").get("/mine").text
