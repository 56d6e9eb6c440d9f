"""Drafts survive until they are sent; forms and interviews are kept one under a key."""

from __future__ import annotations

import pytest
from tests.annotate.support import running, study

from affectlab.annotate.store import drafts, replies
from affectlab.annotate.store.drafts import Window
from affectlab.annotate.store.engine import Store
from affectlab.annotate.store.people import RefusedError
from affectlab.annotate.values import Reply

GLAD = {"mood": "glad", "strength": 3}


def test_a_draft_comes_back_and_is_no_answer(store: Store) -> None:
    run = running(store, study())
    ann = run.join("ann")
    item = run.claim("ann")
    assert item is not None
    said = Reply({"mood": "sad", "why": "悲伤 😢 e\u0301"}, comment="hm", flag=True)
    with store.write() as conn:
        assert drafts.save_draft(conn, run.design, (item, ann.id), said, Window("w", 0), store.now()) == 1
    with store.read() as conn:
        assert drafts.read_draft(conn, item, ann.id) == (said, 1)
        assert replies.current(conn) == []
        assert replies.state_of(conn, item, ann.id) == "open"


def test_a_second_window_does_not_overwrite_the_first(store: Store) -> None:
    run = running(store, study())
    ann = run.join("ann")
    item = run.claim("ann")
    assert item is not None
    key = (item, ann.id)
    with store.write() as conn:
        drafts.save_draft(conn, run.design, key, Reply({"mood": "sad"}), Window("one", 0), store.now())
    with pytest.raises(RefusedError, match="draft_changed"), store.write() as conn:
        drafts.save_draft(conn, run.design, key, Reply({"mood": "glad"}), Window("two", 0), store.now())
    with store.write() as conn:  # having read it, the second window may go on
        drafts.save_draft(conn, run.design, key, Reply({"mood": "calm"}), Window("two", 1), store.now())


def test_a_window_whose_reply_got_lost_goes_on(store: Store) -> None:
    run = running(store, study())
    ann = run.join("ann")
    item = run.claim("ann")
    assert item is not None
    for mood in ("sad", "glad"):
        with store.write() as conn:
            said = Reply({"mood": mood})
            drafts.save_draft(conn, run.design, (item, ann.id), said, Window("one", 0), store.now())
    with store.read() as conn:
        assert drafts.read_draft(conn, item, ann.id) == (Reply({"mood": "glad"}), 2)


def test_submitting_ends_the_draft(store: Store) -> None:
    run = running(store, study())
    ann = run.join("ann")
    item = run.claim("ann")
    assert item is not None
    with store.write() as conn:
        drafts.save_draft(conn, run.design, (item, ann.id), Reply(GLAD), Window("w", 0), store.now())
    run.submit("ann", item, GLAD)
    with store.read() as conn:
        assert drafts.read_draft(conn, item, ann.id) == (None, 0)


def test_one_thing_is_kept_under_a_key_for_each_person(store: Store) -> None:
    run = running(store, study())
    ann, bob = run.join("ann").id, run.join("bob").id
    with store.write() as conn:
        drafts.put(conn, "kept:stage", ann, {"said": "first"}, store.now())
        drafts.put(conn, "kept:stage", bob, {"said": "another"}, store.now())
        drafts.put(conn, "kept:stage", ann, {"said": "second"}, store.now())
    with store.write() as conn:
        assert drafts.get(conn, "kept:stage", ann) == {"said": "second"}
        assert drafts.get(conn, "kept:decision", ann) is None
        drafts.drop(conn, "kept:stage", ann)
        assert drafts.get(conn, "kept:stage", ann) is None
        assert drafts.get(conn, "kept:stage", bob) == {"said": "another"}
