"""Who gets which item: exactly n people, leases, orders, probes, repeats, fixed pairs, never one's own story."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event, Thread

import pytest
from sqlalchemy import select
from sqlalchemy.exc import DBAPIError
from tests.annotate.support import STUDY, Clock, running, study

from affectlab.annotate.store import claims, drafts, project, replies
from affectlab.annotate.store import tables as t
from affectlab.annotate.store.claims import attention_places, repeats_due, repeats_of
from affectlab.annotate.store.engine import Store
from affectlab.annotate.store.people import RefusedError
from affectlab.annotate.values import Reply

GLAD = {"mood": "glad", "strength": 3}

PROBES = """
[[attention]]
id = "check-1"
kind = "instructed"
fields = { text = "Choose sad." }
expected = { mood = "sad" }

[[attention]]
id = "check-2"
fields = { text = "He wept." }
expected = { mood = "sad" }
"""


def test_eight_people_at_once_give_every_item_exactly_two_distinct_people(store: Store) -> None:
    run = running(store, study(), items=12)
    names = [f"person {n}" for n in range(8)]
    for name in names:
        run.join(name)
    with ThreadPoolExecutor(8) as pool:
        done = dict(zip(names, pool.map(lambda name: run.answer_all(name, GLAD), names), strict=True))
    counts = Counter(item for items in done.values() for item in items)
    assert counts == {f"i{n}": 2 for n in range(12)}
    assert all(len(set(items)) == len(items) for items in done.values())
    with store.read() as conn:
        places = Counter((row.item, row.place) for row in conn.execute(select(t.assignment)))
    assert set(places.values()) == {1}


def test_nobody_is_told_that_nothing_is_left_because_others_are_just_being_given_it(store: Store) -> None:
    run = running(store, study(overlap=8), items=1)
    names = [f"person {n}" for n in range(8)]
    for name in names:
        run.join(name)
    together = Barrier(8)

    def claimed(name: str) -> str | None:
        together.wait(30)
        return run.claim(name)

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(claimed, names)) == ["i0"] * 8
    run.join("late")
    assert run.claim("late") is None


def test_everybody_finds_all_items_after_one_has_finished(store: Store) -> None:
    run = running(store, study(), items=5)
    run.join("ann")
    run.join("bob")
    assert len(run.answer_all("ann", GLAD)) == 5
    with store.read() as conn:
        assert claims.left(conn, run.design, run.persons["bob"]) == 5
    assert len(run.answer_all("bob", GLAD)) == 5


def test_an_open_item_is_given_again_until_it_is_done(store: Store) -> None:
    run = running(store, study())
    run.join("ann")
    first = run.claim("ann")
    assert run.claim("ann") == first


def test_items_with_one_answer_come_first(store: Store) -> None:
    run = running(store, study(), items=30)
    run.join("ann")
    run.join("bob")
    begun = run.claim("ann")
    assert begun is not None
    run.submit("ann", begun, GLAD)
    assert run.claim("bob") == begun


def test_orders_are_peoples_own_and_do_not_change_with_the_run(sqlite_store: Store) -> None:
    run = running(sqlite_store, study(overlap=3), items=30)
    orders = []
    for name in ("ann", "bob"):
        run.join(name)
        orders.append(run.answer_all(name, GLAD))
    assert sorted(orders[0]) == sorted(orders[1])
    assert orders[0] != orders[1]
    assert orders[0] != [f"i{n}" for n in range(30)]


def test_a_lapsed_lease_frees_the_item_and_a_late_answer_is_refused_when_others_took_it(
    store: Store, clock: Clock
) -> None:
    run = running(store, study(overlap=1, lease_minutes=10), items=1)
    run.join("ann")
    run.join("bob")
    assert run.claim("ann") == "i0"
    assert run.claim("bob") is None
    clock.time += 601
    assert run.claim("bob") == "i0"
    with pytest.raises(RefusedError, match="lease_over"):
        run.submit("ann", "i0", GLAD)
    run.submit("bob", "i0", GLAD)
    with store.read() as conn:
        assert [one.person for one in replies.current(conn)] == [run.persons["bob"].id]


def test_many_leases_that_lapse_in_one_instant_hinder_nobody(store: Store, clock: Clock) -> None:
    """Everybody who asks for work then frees them all, and takes one of them."""
    run = running(store, study(overlap=2, lease_minutes=10), items=12)
    names = [f"person {n}" for n in range(8)]
    for name in names:
        run.join(name)
    for _ in range(15):
        together = Barrier(8)

        def claimed(name: str, together: Barrier = together) -> str | None:
            together.wait(30)
            return run.claim(name)

        with ThreadPoolExecutor(8) as pool:
            assert None not in list(pool.map(claimed, names))
        clock.time += 601
    with store.write() as conn:
        claims.release_lapsed(conn, clock())
    with store.read() as conn:
        assert set(conn.execute(select(t.item.c.taken)).scalars()) == {0}


def test_a_late_answer_counts_once_where_the_place_is_still_free(store: Store, clock: Clock) -> None:
    run = running(store, study(overlap=2, lease_minutes=10), items=1)
    run.join("ann")
    run.join("bob")
    run.claim("ann")
    clock.time += 601
    run.claim("bob")
    assert run.submit("ann", "i0", GLAD) == 1
    with store.read() as conn:
        item = conn.execute(select(t.item.c.taken).where(t.item.c.id == "i0")).scalar()
    assert item == 2


def test_a_draft_is_a_sign_of_life(store: Store, clock: Clock) -> None:
    run = running(store, study(overlap=1, lease_minutes=10), items=1)
    ann = run.join("ann")
    run.join("bob")
    run.claim("ann")
    clock.time += 500
    with store.write() as conn:
        window = drafts.Window("a-window", 0)
        drafts.save_draft(conn, run.design, ("i0", ann.id), Reply({"mood": "sad"}), window, clock())
    clock.time += 500
    assert run.claim("bob") is None


def test_fixed_pairs_get_their_items_and_nobody_else_does(store: Store) -> None:
    run = running(store, study(), items=4)
    for name in ("ann", "bob", "cy"):
        run.join(name)
    with store.write() as conn:
        project.pair_up(conn, [("i0", "ann"), ("i0", "bob"), ("i1", "ann"), ("i1", "cy")])
    assert sorted(run.answer_all("ann", GLAD)) == ["i0", "i1"]
    assert run.answer_all("bob", GLAD) == ["i0"]
    assert run.answer_all("cy", GLAD) == ["i1"]


def test_attention_items_come_once_each_apart_from_the_quota_and_never_at_the_edges(sqlite_store: Store) -> None:
    run = running(sqlite_store, study(STUDY + PROBES, overlap=1), items=10)
    run.join("ann")
    done = run.answer_all("ann", GLAD)
    assert sorted(done) == sorted([f"i{n}" for n in range(10)] + ["check-1", "check-2"])
    places = [done.index(one) for one in ("check-1", "check-2")]
    assert min(places) >= 2
    assert max(places) <= 9
    with sqlite_store.read() as conn:
        counted = {row.item for row in conn.execute(select(t.assignment).where(t.assignment.c.place.is_not(None)))}
    assert counted == {f"i{n}" for n in range(10)}


@pytest.mark.parametrize("seed", range(20))
def test_places_of_attention_items_differ_between_people(seed: int) -> None:
    places = attention_places(["a", "b", "c"], 40, f"{seed}:someone")
    assert sorted(places) == ["a", "b", "c"]
    assert all(2 <= place <= 40 for place in places.values())
    others = [attention_places(["a", "b", "c"], 40, f"{other}:someone") for other in range(20)]
    assert len({tuple(sorted(one.items())) for one in others}) > 10


def test_few_items_leave_no_room_for_attention_items() -> None:
    assert attention_places(["a"], 4, "seed") == {}


def test_repeats_come_late_and_as_many_as_wanted_to_everybody(store: Store) -> None:
    run = running(store, study(repeat_share=0.1, repeat_gap=15, overlap=2), items=20)
    for name in ("ann", "bob"):
        run.join(name)
        done = run.answer_all(name, GLAD)
        repeats = [one for one in done if one.endswith("~again")]
        assert len(repeats) == 2  # a tenth of 20, from the 5 that were done 15 items before the end
        for one in repeats:
            assert done.index(one) - done.index(one.removesuffix("~again")) >= 15
        assert len(done) == len(set(done)) == 22


def test_items_left_out_do_not_come_again(sqlite_store: Store) -> None:
    run = running(sqlite_store, study(repeat_share=0.5, repeat_gap=2, overlap=1), items=6)
    run.join("ann")
    while (item := run.claim("ann")) is not None:
        assert not item.endswith("~again")
        run.submit("ann", item, {}, skipped="unclear")


@pytest.mark.parametrize(
    ("total", "wanted", "possible"),
    [(60, 3, 3), (30, 2, 0), (31, 2, 1), (8, 0, 0), (1000, 50, 50)],  # 0.05 * 30 = 1.5, rounded up
)
def test_a_short_project_has_no_room_for_repeats(total: int, wanted: int, possible: int) -> None:
    design = study(repeat_share=0.05, repeat_gap=30)
    assert repeats_of(design, total) == (wanted, possible)
    assert [repeats_due(design, total, early) for early in (0, max(total - 30, 0))] == [0, possible]


def test_what_is_left_counts_attention_items_and_repeats_and_goes_down_by_one(sqlite_store: Store) -> None:
    run = running(sqlite_store, study(STUDY + PROBES, overlap=1, repeat_share=0.2, repeat_gap=6), items=10)
    ann = run.join("ann")
    seen = []
    while True:
        with sqlite_store.read() as conn:
            seen.append(claims.left(conn, run.design, ann))
        item = run.claim("ann")
        if item is None:
            break
        run.submit("ann", item, GLAD)
    assert seen == list(range(14, -1, -1))  # 10 items, 2 attention items, 2 repeats


def test_an_author_never_observes_the_own_story(store: Store) -> None:
    run = running(store, study(overlap=5), items=0)
    ann = run.join("ann")
    run.join("bob")
    with store.write() as conn:
        project.add_story(conn, run.design, "story-1", "I told this.", ann.id, 0)
        claims.claim_own(conn, run.design, "story-1", ann, store.now())
    run.submit("ann", "story-1", GLAD)
    assert run.claim("ann") is None
    assert run.claim("bob") == "story-1"
    with store.read() as conn:
        places = {row.person: row.place for row in conn.execute(select(t.assignment))}
    assert places == {ann.id: None, run.persons["bob"].id: 1}


def test_two_windows_of_one_person_do_not_wait_for_each_other_for_good(store: Store) -> None:
    """One window submits while another asks for work: neither is told that the database is busy."""
    run = running(store, study(), items=20)
    run.join("ann")
    over = Event()
    trouble: list[BaseException] = []

    def ask() -> None:
        while not over.is_set():
            try:
                run.claim("ann")
            except DBAPIError as error:
                trouble.append(error)

    windows = [Thread(target=ask) for _ in range(2)]
    for window in windows:
        window.start()
    try:
        done = run.answer_all("ann", {"mood": "glad", "strength": 3})
    finally:
        over.set()
        for window in windows:
            window.join()
    assert trouble == []
    assert len(set(done)) == 20
