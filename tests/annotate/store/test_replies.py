"""Answers are added once each; corrections leave one current answer and a history."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import insert
from sqlalchemy.exc import IntegrityError
from tests.annotate.support import running, study

from affectlab.annotate.store import replies
from affectlab.annotate.store import tables as t
from affectlab.annotate.store.engine import Store
from affectlab.annotate.store.people import RefusedError
from affectlab.annotate.values import Reply

GLAD = {"mood": "glad", "strength": 3}


def test_the_same_submit_twice_at_once_is_one_answer(store: Store) -> None:
    run = running(store, study())
    ann = run.join("ann")
    item = run.claim("ann")
    assert item is not None
    with ThreadPoolExecutor(4) as pool:
        versions = list(pool.map(lambda _: run.submit("ann", item, GLAD, key="pressed twice"), range(4)))
    assert versions == [1, 1, 1, 1]
    with store.read() as conn:
        assert len(replies.history(conn, item, ann.id)) == 1


def test_a_changed_mind_is_one_current_answer_with_its_history(store: Store) -> None:
    run = running(store, study())
    ann = run.join("ann")
    item = run.claim("ann")
    assert item is not None
    assert run.submit("ann", item, {"mood": "glad", "strength": 2}) == 1
    assert run.submit("ann", item, {"mood": "glad", "strength": 5}) == 2
    with store.read() as conn:
        (now,) = replies.current(conn)
        assert now.reply.values["strength"] == 5
        assert [one.reply.values["strength"] for one in replies.history(conn, item, ann.id)] == [2, 5]
        assert (now.design_version, now.guideline_version) == (1, "7")


def test_two_current_answers_are_impossible(store: Store) -> None:
    run = running(store, study())
    ann = run.join("ann")
    item = run.claim("ann")
    assert item is not None
    run.submit("ann", item, GLAD)
    row = {"item": item, "person": ann.id, "version": 1, "body": Reply(GLAD).body(), "submit_key": "another"}
    with pytest.raises(IntegrityError), store.write() as conn:
        conn.execute(insert(t.response).values(**row, design_version=1, guideline_version="7", at=0.0))


def test_an_item_that_was_never_given_takes_no_answer(store: Store) -> None:
    run = running(store, study())
    run.join("ann")
    with pytest.raises(RefusedError, match="not_yours"):
        run.submit("ann", "i0", GLAD)


def test_a_submit_key_belongs_to_one_answer(store: Store) -> None:
    run = running(store, study())
    run.join("ann")
    first = run.claim("ann")
    assert first is not None
    run.submit("ann", first, GLAD, key="the key")
    second = run.claim("ann")
    assert second is not None
    with pytest.raises(RefusedError, match="key_used"):
        run.submit("ann", second, GLAD, key="the key")


def test_skipping_can_be_taken_back(store: Store) -> None:
    run = running(store, study())
    ann = run.join("ann")
    item = run.claim("ann")
    assert item is not None
    run.submit("ann", item, {}, skipped="unclear")
    with store.read() as conn:
        assert replies.state_of(conn, item, ann.id) == "skipped"
    assert run.claim("ann") != item
    run.submit("ann", item, GLAD)
    with store.read() as conn:
        assert replies.state_of(conn, item, ann.id) == "done"
        (now,) = replies.current(conn, item=item)
    assert now.reply.skipped == ""
    assert now.reply.values == GLAD
