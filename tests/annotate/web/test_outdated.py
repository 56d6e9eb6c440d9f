"""A form that was open while the design changed stores nothing, and shows what was chosen under its names of today."""

from __future__ import annotations

import re
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.annotate.support import STUDY, Running, running, study
from tests.annotate.web.test_adjudication import decision, divided, gold, letter
from tests.annotate.web.test_work import STAGES, begin, checked

from affectlab.annotate.store import drafts, panels, project, replies
from affectlab.annotate.store.engine import Store
from affectlab.annotate.web.outdated import renew

SWAP = {"mood": {"glad": "sad", "sad": "glad"}}
"""The label that was called Glad is ``sad`` from version 2 on, and the other way round."""

NOTHING = "Nothing was stored: the questions or texts of this study have changed"


@pytest.fixture
def run(store: Store) -> Running:
    found = running(store, study(), items=2)
    found.join("ann")
    return found


def swap(run: Running, text: str = STUDY) -> None:
    """Put version 2 in place, in which two labels have each other's id."""
    swapped = text.replace('"glad", names = "Glad"', '"SAD", names = "Glad"').replace('id = "sad"', 'id = "glad"')
    swapped = swapped.replace('mood = "glad"', 'mood = "sad"')  # expected in practice
    with run.store.write() as conn:
        run.design = study(swapped.replace("SAD", "sad"), version=2)
        project.replace_design(conn, run.design, SWAP, run.store.now())


def stored(run: Running) -> list[dict[str, Any]]:
    with run.store.read() as conn:
        return [dict(one.reply.values) for one in replies.current(conn)]


def fresh(page: str, form: dict[str, Any]) -> dict[str, Any]:
    """The form again as the page sends it when nothing is changed on it: its own hidden fields, its own choices."""
    hidden = dict(re.findall(r'type="hidden" name="(csrf|design|submit_key)" value="([^"]+)"', page))
    mood, strength = checked(page)
    return form | hidden | {"s.mood": mood, "s.strength": strength}


class TestFields:
    def test_labels_and_their_intensities_change_places(self) -> None:
        form = {"s.set": ["joy", "fear"], "i.set.joy": ["2"], "i.set.fear": ["1"], "s.why": ["joy"], "comment": ["joy"]}
        new = renew(form, "1", {1: {}, 2: {"set": {"joy": "fear", "fear": "joy"}}})
        wanted = {"s.set": ["fear", "joy"], "i.set.fear": ["2"], "i.set.joy": ["1"], "s.why": ["joy"]}
        assert new == wanted | {"comment": ["joy"]}

    def test_every_later_version_counts_and_no_earlier_one(self) -> None:
        mappings = {1: {}, 2: {"mood": {"a": "b"}}, 5: {"mood": {"b": "c"}}, 6: {"mood": {"c": "d"}}}
        names = {opened: renew({"s.mood": ["b"]}, opened, mappings)["s.mood"] for opened in ("1", "2", "5", "6")}
        # From 1: b stays b in 2, then c, then d. From 5: no later version renames b.
        assert names == {"1": ["d"], "2": ["d"], "5": ["b"], "6": ["b"]}

    @pytest.mark.parametrize("opened", ["", "0", "3", "-1", "01", "x", "²"])
    def test_what_nobody_can_tell_the_meaning_of_is_not_chosen(self, opened: str) -> None:
        form = {"s.set": ["joy"], "i.set.joy": ["2"], "s.mood": ["glad"], "s.why": ["So."]}
        assert renew(form, opened, {1: {}, 2: {"set": {"joy": "fear"}}}) == {"s.mood": ["glad"], "s.why": ["So."]}


def test_an_answer_given_before_labels_changed_places_is_shown_again_and_not_stored(run: Running) -> None:
    client, path = begin(run)
    form = run.form("ann", s__mood="glad", s__strength="4", s__why="She laughed.", comment="hm")
    swap(run)
    answer = client.post(path, data=form)
    assert answer.status_code == 409
    assert NOTHING in answer.text
    assert checked(answer.text) == ["sad", "4"]  # still the label called Glad
    assert re.search(r'value="sad" checked[^>]*>\s*<span>Glad<', answer.text)
    assert "She laughed.</textarea>" in answer.text
    assert "hm</textarea>" in answer.text
    assert stored(run) == []
    assert client.post(path, data=fresh(answer.text, form)).status_code == 303
    assert stored(run) == [{"mood": "sad", "strength": 4, "why": "She laughed."}]


def test_it_is_told_in_chinese_too(run: Running) -> None:
    client, path = begin(run)
    client.post("/me", data={"csrf": run.token("ann"), "language": "zh", "next": path})
    form = run.form("ann", s__mood="glad", s__strength="4", rev="0")
    swap(run)
    assert "未保存任何内容" in client.post(path, data=form).text
    assert "未保存：" in client.post(path.replace("/item/", "/draft/"), data=form).text


def test_a_draft_of_an_open_page_is_refused_and_the_one_before_stays(run: Running) -> None:
    client, path = begin(run)
    draft = path.replace("/item/", "/draft/")
    form = run.form("ann", s__mood="glad", rev="0")
    assert client.post(draft, data=form).status_code == 200
    swap(run)
    answer = client.post(draft, data=form | {"s.strength": "2", "rev": "1"}, headers={"HX-Request": "true"})
    assert answer.status_code == 409
    assert answer.text.startswith('<span class="problem">Not saved: the questions of this study have changed')
    with run.store.read() as conn:
        kept, rev = drafts.read_draft(conn, path.removeprefix("/item/"), run.persons["ann"].id)
    assert kept is not None
    assert (kept.values, rev) == ({"mood": "sad"}, 1)


def test_leaving_an_item_out_is_asked_again(run: Running) -> None:
    client, path = begin(run)
    form = run.form("ann", s__mood="sad", reason="unclear")
    swap(run)
    answer = client.post(path.replace("/item/", "/skip/"), data=form)
    assert answer.status_code == 409
    assert NOTHING in answer.text
    assert checked(answer.text) == ["glad"]
    assert answer.headers["hx-push-url"] == "false"
    with run.store.read() as conn:
        assert replies.current(conn) == []


def test_what_was_stored_before_the_change_is_not_said_to_be_lost(run: Running) -> None:
    client, path = begin(run)
    form = run.form("ann", s__mood="glad", s__strength="4", rev="0")
    client.post(path, data=form)
    swap(run)
    assert client.post(path, data=form).status_code == 303
    assert client.post(path.replace("/item/", "/draft/"), data=form).status_code == 200
    with run.store.read() as conn:
        assert [(one.version, one.design_version) for one in replies.current(conn)] == [(1, 1)]


def test_a_form_that_names_no_version_is_not_taken(run: Running) -> None:
    client, path = begin(run)
    form = run.form("ann", s__mood="glad", s__strength="4")
    del form["design"]
    assert client.post(path, data=form).status_code == 409
    swap(run)
    assert checked(client.post(path, data=form).text) == ["4"]
    assert stored(run) == []


ASKED = """
[[questionnaires]]
id = "you"
title = "About you"

[[questionnaires.slots]]
id = "mood"
kind = "choice"
title = "And you?"
options = [{ id = "glad", names = "Well" }, { id = "low", names = "Low" }]
"""


class TestStages:
    """Each text says in which version a person agreed to it, so a page of another version is no agreement."""

    @pytest.fixture
    def staged(self, store: Store) -> Running:
        found = running(store, study(STUDY + ASKED + STAGES), items=1)
        found.join("ann")
        return found

    def again(self, run: Running, client: TestClient, name: str, **fields: Any) -> str:
        """Send a page that was opened before version 2: it is shown again, and nothing of it is written down."""
        answer = client.post(f"/stage/{name}", data=run.form("ann", design="1", **fields))
        assert answer.status_code == 409
        assert NOTHING in answer.text
        with run.store.read() as conn:
            assert name not in panels.stages_of(conn, run.persons["ann"].id)
        return answer.text

    def test_each_is_shown_again(self, staged: Running) -> None:
        client = staged.client("ann")
        mood, strength = "t__train-1__s__mood", "t__train-1__s__strength"
        swap(staged, STUDY + ASKED + STAGES)
        self.again(staged, client, "consent", agree="yes")
        client.post("/stage/consent", data=staged.form("ann", agree="yes"))
        self.again(staged, client, "instructions")
        client.post("/stage/instructions", data=staged.form("ann"))
        # A questionnaire's labels are its own, whatever a slot of the items is called.
        assert checked(self.again(staged, client, "q.you", s__mood="glad")) == ["glad"]
        client.post("/stage/q.you", data=staged.form("ann", s__mood="glad"))
        assert checked(self.again(staged, client, "training", **{mood: "glad", strength: "2"})) == ["sad", "2"]
        assert "2 of 2" in client.post("/stage/training", data=staged.form("ann", **{mood: "sad", strength: "2"})).text

    def test_practice_that_was_kept_is_filled_in_under_its_new_names(self, staged: Running) -> None:
        client = staged.client("ann")
        client.post("/stage/consent", data=staged.form("ann", agree="yes"))
        client.post("/stage/instructions", data=staged.form("ann"))
        client.post("/stage/q.you", data=staged.form("ann", s__mood="glad"))
        practised = {"t__train-1__s__mood": "glad", "kept": "stage:training", "round": "1"}
        assert client.post("/keep", data=staged.form("ann", **practised)).status_code == 204
        assert checked(client.get("/stage/training").text) == ["glad"]
        swap(staged, STUDY + ASKED + STAGES)
        assert checked(client.get("/stage/training").text) == ["sad"]


class TestDecisions:
    """The same two labels are candidates before and after they change places: the letters alone do not tell."""

    @pytest.fixture
    def judged(self, store: Store) -> Running:
        return divided(store)

    def test_a_letter_of_a_page_opened_before_decides_nothing(self, judged: Running) -> None:
        judge = judged.client("judge")
        form = decision(judged, judge, "judge", choice=letter(judge, "Glad"), reason="A smile.")
        swap(judged)
        answer = judge.post("/adjudicate/mood/i0", data=form)
        assert answer.status_code == 409
        assert NOTHING in answer.text
        assert "A smile." in answer.text
        assert checked(answer.text) == []
        assert gold(judged) == ("disagree", None)
        again = decision(judged, judge, "judge", choice=letter(judge, "Glad"))
        assert judge.post("/adjudicate/mood/i0", data=again).status_code == 303
        assert gold(judged) == ("decided", "sad")  # the id of the label called Glad by now

    def test_another_answer_is_chosen_under_its_new_name(self, judged: Running) -> None:
        judge = judged.client("judge")
        other = {"choice": "other", "reason": "So.", "s.mood": "glad"}
        form = decision(judged, judge, "judge", **other)
        assert judge.post("/keep", data=form | {"kept": "decision:mood:i0"}).status_code == 204
        swap(judged)
        assert checked(judge.post("/adjudicate/mood/i0", data=form).text) == ["other", "sad"]
        assert checked(judge.get("/adjudicate/mood/i0").text) == ["other", "sad"]  # as it was kept
        assert gold(judged) == ("disagree", None)
