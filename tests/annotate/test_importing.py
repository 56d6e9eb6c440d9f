"""Answers and items from files: what is taken, what is refused whole, and that people can go on working meanwhile."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from affectlab.annotate.export import Wish, write_export
from affectlab.annotate.importing import Added, import_answers, import_items
from affectlab.annotate.project import Project, init_project
from affectlab.annotate.records import project_answers
from affectlab.annotate.store import people, project, replies, tables
from affectlab.annotate.store.engine import Store, create_tables, open_store
from affectlab.annotate.units import make_unit
from affectlab.errors import UserError
from tests.annotate.support import STUDY, Running, running, small_design, study, texts

GLAD: list[dict[str, Any]] = [{"slot": "mood", "value": "glad"}, {"slot": "strength", "value": 3}]

SPANS = STUDY.replace(
    '[[slots]]\nid = "why"',
    '[[slots]]\nid = "where"\nkind = "span"\ntitle = "Where?"\nfield = "text"\nrequired = false\n\n'
    '[[slots]]\nid = "why"',
)

LISTED = small_design(
    "listed",
    """
[[slots]]
id = "opts"
kind = "label_set"
title = "Which?"
options_field = "choices"
""",
)

GRADED = STUDY.replace(
    'kind = "choice"\ntitle = "Which mood?"',
    'kind = "label_set"\nintensities = ["a little", "much"]\ntitle = "Which mood?"',
)

DEEP = STUDY.replace(
    '[[slots]]\nid = "strength"',
    '[[slots]]\nid = "deep"\nkind = "yes_no"\ntitle = "Deep?"\nwhen = { slot = "mood", equals = ["sad"] }\n\n'
    '[[slots]]\nid = "strength"',
)


def written(folder: Path, *rows: dict[str, Any]) -> str:
    path = folder / f"answers-{len(list(folder.iterdir()))}.jsonl"
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def reply(annotator: str, item: str, answers: list[dict[str, Any]] = GLAD, **more: Any) -> list[dict[str, Any]]:
    return [{"item": item, "annotator": annotator, **answer, **more} for answer in answers]


def held(store: Store) -> dict[tuple[str, str], dict[str, Any]]:
    with store.read() as conn:
        return {(one.item, one.person): dict(one.reply.values) for one in replies.current(conn)}


def refused(store: Store, source: str, told: str) -> None:
    with pytest.raises(UserError, match=told):
        import_answers(store, source, {})
    assert held(store) == {}
    with store.read() as conn:
        assert people.people(conn) == []


class TestTaken:
    def test_answers_take_places_and_nobody_is_asked_for_them_again(self, store: Store, tmp_path: Path) -> None:
        run = running(store, study(), items=1)
        rows = [*reply("ann", "i0"), *reply("bob", "i0")]
        assert import_answers(store, written(tmp_path, *rows), {}) == Added(4, 2)
        assert held(store) == {
            (item, who): {"mood": "glad", "strength": 3} for item, who in (("i0", "ann"), ("i0", "bob"))
        }
        run.join("cem")
        assert run.claim("cem") is None

    def test_the_same_file_again_adds_what_is_missing(self, store: Store, tmp_path: Path) -> None:
        running(store, study(), items=2)
        first, second = reply("ann", "i0"), reply("ann", "i1")
        import_answers(store, written(tmp_path, *first), {})
        assert import_answers(store, written(tmp_path, *first, *second), {}) == Added(2, 1, there=2)
        other: list[dict[str, Any]] = [{"slot": "mood", "value": "sad"}, {"slot": "strength", "value": 3}]
        with pytest.raises(UserError, match="has an answer already"):
            import_answers(store, written(tmp_path, *reply("ann", "i0", other)), {})

    def test_an_account_that_is_there_answers_under_its_name_or_code(self, store: Store, tmp_path: Path) -> None:
        run = running(store, study(), items=2)
        ann = run.join("Ann Lee")
        import_answers(store, written(tmp_path, *reply("Ann  Lee", "i0"), *reply("bob", "i0")), {})
        import_answers(store, written(tmp_path, *reply(ann.id, "i1")), {})
        assert set(held(store)) == {("i0", ann.id), ("i0", "bob"), ("i1", ann.id)}

    def test_a_name_too_long_for_a_code_is_kept(self, store: Store, tmp_path: Path) -> None:
        running(store, study(), items=1)
        name = "a.very.long.address.of.an.annotator@example.org"
        import_answers(store, written(tmp_path, *reply(name, "i0")), {})
        with store.read() as conn:
            assert [one.name for one in people.people(conn)] == [name]

    def test_two_spellings_of_one_account_are_refused(self, store: Store, tmp_path: Path) -> None:
        running(store, study())
        rows = [*reply("Ann Lee", "i0"), *reply("Ann  Lee", "i0")]
        refused(store, written(tmp_path, *rows), "are one account")

    def test_ids_that_are_not_in_composed_form_are_found(self, store: Store, tmp_path: Path) -> None:
        design = study()
        decomposed = "cafe\u0301"  # e and an accent: two characters that look as one
        with store.write() as conn:
            project.start_project(conn, design, 0, store.now())
            for item in (decomposed, " sp "):
                row = {"id": item, "kind": "work", "place": len(item), "rank": 1, "taken": 0, "digest": item}
                body = make_unit(design, item, {"text": "A text."}).body()
                conn.execute(tables.item.insert().values(**row, body=body))
        import_answers(store, written(tmp_path, *reply("ann", decomposed), *reply("ann", " sp ")), {})
        assert set(held(store)) == {(decomposed, "ann"), (" sp ", "ann")}

    def test_sets_of_options_that_the_item_lists_come_whole(self, store: Store, tmp_path: Path) -> None:
        design = study(LISTED)
        with store.write() as conn:
            project.start_project(conn, design, 0, store.now())
            unit = make_unit(design, "i0", {"text": "A text.", "choices": ["one", "two", "three"]})
            project.add_units(conn, design, [unit], 0)
        rows = [
            {"item": "i0", "annotator": "ann", "slot": "opts", "value": ["2", "1"]},
            {"item": "i0", "annotator": "bob", "slot": "opts", "value": ["2"]},
        ]
        import_answers(store, written(tmp_path, *rows), {})
        assert held(store) == {("i0", "ann"): {"opts": ["1", "2"]}, ("i0", "bob"): {"opts": ["2"]}}
        with pytest.raises(UserError, match="slot 'opts': not an option"):
            import_answers(store, written(tmp_path, {**rows[0], "annotator": "cem", "value": ["1", "9"]}), {})

    def test_spans_come_back_as_they_were_exported(self, store: Store, tmp_path: Path) -> None:
        span = {"start": 0, "end": 4, "text": "Text"}  # of "Text number 0 of all."
        run = running(store, study(SPANS), items=1)
        run.join("ann")
        run.answer_all("ann", {"mood": "glad", "strength": 3, "where": [span]})
        for name in ("long.csv", "long.jsonl"):
            with store.read() as conn:
                write_export(conn, tmp_path / name, Wish("long"))
        other = open_store(f"sqlite:///{tmp_path / 'other.sqlite'}")
        create_tables(other)
        running(other, study(SPANS), items=1)
        import_answers(other, str(tmp_path / "long.csv"), {})
        (values,) = held(other).values()
        assert values["where"] == [span]
        assert import_answers(other, str(tmp_path / "long.jsonl"), {}).there == 3
        other.close()

    def test_times_of_the_file_are_kept(self, store: Store, tmp_path: Path) -> None:
        run = running(store, study())
        rows = [
            *reply("ann", "i0", time="2026-03-01T10:00:00+00:00"),
            *reply("ann", "i1", time="2026-03-01T11:00:30+01:00"),
        ]
        import_answers(store, written(tmp_path, *rows), {})
        with store.read() as conn:
            times = {one.item: one.time for one in project_answers(conn, run.design)}
        assert times == {"i0": "2026-03-01T10:00:00+00:00", "i1": "2026-03-01T10:00:30+00:00"}
        with pytest.raises(UserError, match="time 'yesterday'"):
            import_answers(store, written(tmp_path, *reply("bob", "i0", time="yesterday")), {})

    def test_numbers_of_a_table_without_types(self, store: Store, tmp_path: Path) -> None:
        running(store, study())
        table = tmp_path / "answers.csv"
        table.write_text("item,annotator,slot,value\ni0,ann,mood,glad\ni0,ann,strength,4\n", encoding="utf-8")
        import_answers(store, str(table), {})
        assert held(store) == {("i0", "ann"): {"mood": "glad", "strength": 4}}

    def test_another_tools_file(self, store: Store, tmp_path: Path) -> None:
        running(store, study())
        values = {"mood": [{"value": "sad", "user_id": "ann"}], "strength": [{"value": 2, "user_id": "ann"}]}
        path = tmp_path / "argilla.json"
        path.write_text(json.dumps([{"id": "i1", "fields": {"text": "…"}, "responses": values}]), encoding="utf-8")
        assert import_answers(store, str(path), {}, "argilla") == Added(2, 1)
        assert held(store) == {("i1", "ann"): {"mood": "sad", "strength": 2}}
        with pytest.raises(UserError, match="expected long"):
            import_answers(store, str(path), {}, "excel")

    def test_answers_of_models_beside_peoples_are_left_out_and_counted(self, store: Store, tmp_path: Path) -> None:
        running(store, study())
        path = written(tmp_path, *reply("ann", "i0"), *reply("gpt", "i0", kind="model"))
        found = import_answers(store, str(path), {})
        assert found.left_out == {"answers of models (gpt)": 2}
        assert held(store).keys() == {("i0", "ann")}


class TestRefused:
    def test_models_are_no_people(self, store: Store, tmp_path: Path) -> None:
        running(store, study())
        refused(store, written(tmp_path, *reply("gpt", "i0", kind="model")), "these are of gpt")

    @pytest.mark.parametrize("status", ["draft", "invalid"])
    def test_drafts_are_no_answers(self, store: Store, tmp_path: Path, status: str) -> None:
        running(store, study())
        rows = reply("ann", "i0", [{"slot": "mood", "value": None}, {"slot": "strength", "value": None}], status=status)
        refused(store, written(tmp_path, *rows), f"slot 'mood': {status} is no answer")

    def test_replies_that_lack_what_is_asked(self, store: Store, tmp_path: Path) -> None:
        running(store, study())
        refused(store, written(tmp_path, *reply("ann", "i0", [{"slot": "why", "value": "so"}])), "slot 'mood': missing")

    def test_what_is_not_asked_after_these_answers(self, store: Store, tmp_path: Path) -> None:
        running(store, study(DEEP))
        rows = reply("ann", "i0", [*GLAD, {"slot": "deep", "value": "yes"}])
        refused(store, written(tmp_path, *rows), "slot 'deep': is not asked after these answers")

    @pytest.mark.parametrize("level", [2.7, 3, -1])
    def test_intensities_between_or_beyond_the_levels(self, store: Store, tmp_path: Path, level: float) -> None:
        running(store, study(GRADED))
        rows = reply("ann", "i0", [{"slot": "mood", "value": {"glad": level}}, {"slot": "strength", "value": 3}])
        refused(store, written(tmp_path, *rows), "slot 'mood'")

    def test_items_left_out_in_part_or_for_no_known_reason(self, store: Store, tmp_path: Path) -> None:
        running(store, study())
        part: list[dict[str, Any]] = [
            {"slot": "mood", "value": "glad"},
            {"slot": "strength", "value": None, "status": "skipped"},
        ]
        refused(store, written(tmp_path, *reply("ann", "i0", part)), "an item is left out whole")
        out: list[dict[str, Any]] = [{"slot": "mood", "value": None}, {"slot": "strength", "value": None}]
        rows = reply("ann", "i0", out, status="skipped", reason="boring")
        refused(store, written(tmp_path, *rows), "reason 'boring' is none of unclear, broken")

    def test_items_left_out_elsewhere_without_a_reason(self, store: Store, tmp_path: Path) -> None:
        run = running(store, study())
        out: list[dict[str, Any]] = [{"slot": "mood", "value": None, "status": "skipped"}]
        import_answers(store, written(tmp_path, *reply("ann", "i0", out)), {})
        with store.read() as conn:
            assert {one.reason for one in project_answers(conn, run.design)} == {"unstated"}

    def test_more_people_than_places(self, store: Store, tmp_path: Path) -> None:
        running(store, study())  # two people an item
        rows = [row for who in ("ann", "bob", "cem") for row in reply(who, "i0")]
        refused(store, written(tmp_path, *rows), "2 people have it already")

    def test_items_that_are_written_alike_cannot_be_told_apart(self, store: Store, tmp_path: Path) -> None:
        design = study()
        with store.write() as conn:
            project.start_project(conn, design, 0, store.now())
            alike = [make_unit(design, item, {"text": f"Text {item}."}) for item in ("cafe\u0301", "caf\u00e9")]
            project.add_units(conn, design, alike, 0)
        refused(store, written(tmp_path, *reply("ann", "caf\u00e9")), "2 items of the project are written so")

    def test_probes_are_not_answered_from_files(self, store: Store, tmp_path: Path) -> None:
        running(store, study(repeat_share=1.0))
        refused(store, written(tmp_path, *reply("ann", "i0~again")), "is not in the project")


class TestItems:
    def test_items_that_are_there_are_left_out(self, store: Store, tmp_path: Path) -> None:
        running(store, study(), items=2)
        rows = [{"id": f"i{n}", "text": f"Text number {n} of all."} for n in range(3)]
        source = written(tmp_path, *rows, {"id": "i9", "text": rows[2]["text"]})
        assert import_items(store, source, {}) == (1, 3)

    def test_an_id_with_other_content_adds_nothing(self, store: Store, tmp_path: Path) -> None:
        """Items are added in pieces of 500; the last of these is wrong."""
        running(store, study(), items=2)
        rows = [{"id": f"m{n}", "text": f"New text {n}."} for n in range(600)]
        with pytest.raises(UserError, match=r"nothing was added.*: i1; rename"):
            import_items(store, written(tmp_path, *rows, {"id": "i1", "text": "Another text."}), {})
        with store.read() as conn:
            assert [unit.id for unit in project.units(conn)] == ["i0", "i1"]


class TestVersions:
    def changed(self, store: Store) -> Running:
        run = running(store, study())
        new = study(STUDY.replace('id = "calm"', 'id = "even"'), version=2)
        with store.write() as conn:
            project.replace_design(conn, new, {"mood": {"calm": "even"}}, store.now())
        run.design = new
        return run

    def test_answers_are_kept_under_the_version_they_name(self, store: Store, tmp_path: Path) -> None:
        run = self.changed(store)
        calm: list[dict[str, Any]] = [{"slot": "mood", "value": "calm"}, {"slot": "strength", "value": 3}]
        rows = [*reply("ann", "i0", calm, schema="1"), *reply("bob", "i0", schema="2"), *reply("bob", "i1")]
        import_answers(store, written(tmp_path, *rows), {})
        with store.read() as conn:
            found = project_answers(conn, run.design)
        moods = {(one.item, one.annotator): (one.value, one.schema) for one in found if one.slot == "mood"}
        assert moods == {("i0", "ann"): ("even", "1"), ("i0", "bob"): ("glad", "2"), ("i1", "bob"): ("glad", "2")}

    @pytest.mark.parametrize(
        ("schemas", "told"),
        [(("5", "5"), "schema '5' is no version of the design"), (("1", "2"), "under several versions of the design")],
    )
    def test_versions_that_are_none_are_refused(
        self, store: Store, tmp_path: Path, schemas: tuple[str, str], told: str
    ) -> None:
        self.changed(store)
        rows = [{**row, "schema": schema} for row, schema in zip(reply("ann", "i0"), schemas, strict=True)]
        refused(store, written(tmp_path, *rows), told)


class TestMeanwhile:
    @pytest.fixture(params=["sqlite", "postgresql"])
    def project(self, request: pytest.FixtureRequest, tmp_path: Path) -> Project:
        database = "" if request.param == "sqlite" else request.getfixturevalue("postgres_url")
        design = study(overlap=10)
        return init_project(tmp_path / "p", design, texts(design, 150), database=database)[0]

    def test_a_big_import_lets_others_write(self, project: Project, tmp_path: Path) -> None:
        """300 replies and 30 MB of items come in by another process while eight people submit.

        The behaviour is SQLite's; PostgreSQL gets a smaller share.
        """
        replies_of, number, hands = (150, 1500, 8) if project.url.startswith("sqlite") else (30, 100, 3)
        rows = [row for n in range(replies_of) for who in ("x", "y") for row in reply(who, f"i{n}")]
        answers = written(tmp_path, *rows)
        items = written(tmp_path, *({"id": f"m{n}", "text": f"{n} " + "word " * 4000} for n in range(number)))
        over = threading.Event()
        waits: list[float] = []
        problems: list[BaseException] = []
        stored: list[tuple[str, str]] = []

        def work(run: Running, name: str) -> None:
            try:
                while not over.is_set():
                    start = time.perf_counter()
                    item = run.claim(name)
                    if item is None:
                        return  # all 150 are done
                    run.submit(name, item, {"mood": "sad", "strength": 1}, key=f"{name}-{item}")
                    waits.append(time.perf_counter() - start)
                    stored.append((item, run.persons[name].id))
                    time.sleep(0.1)
            except BaseException as error:  # noqa: BLE001 - shown by the assertion below
                problems.append(error)

        with project.opened() as store:
            run = Running(store, study(overlap=10))
            names = [f"person {n}" for n in range(hands)]
            for name in names:
                run.join(name)
            threads = [threading.Thread(target=work, args=(run, name)) for name in names]
            try:
                for one in threads:
                    one.start()
                took = [
                    imported(project, "--answers", answers, f"{len(rows)} answers of 2 annotators added"),
                    imported(project, "--items", items, f"{number} items added"),
                ]
            finally:
                over.set()
                for one in threads:
                    one.join()
            there = held(store)
        assert problems == []
        assert set(stored) <= set(there)
        assert len(there) == len(stored) + 2 * replies_of
        assert len(stored) >= 2 * hands
        # In one transaction a writer waits for all of it.
        assert max(waits) < max(took) / 2


def imported(project: Project, *arguments: str) -> float:
    """Import by the command line; returns the seconds it took."""
    *arguments_, told = arguments
    start = time.perf_counter()
    program = "from affectlab.cli.main import main; main()"
    command = [sys.executable, "-c", program, "annotate", "import", str(project.folder), *arguments_]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    assert told in done.stdout
    return time.perf_counter() - start
