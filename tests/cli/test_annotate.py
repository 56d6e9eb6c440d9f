"""``affectlab annotate``: a whole round of Chiaro from items to a run on the export, and what its commands refuse."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.annotate.support import STUDY, Running
from tests.cli.conftest import Ended

from affectlab.annotate.project import Project, find_project
from affectlab.annotate.store import project as stored
from affectlab.items import read_rows

Cli = Callable[..., Ended]

SAMPLE = Path(__file__).resolve().parents[2] / "src" / "affectlab" / "benchmarks" / "chiaro" / "sample.jsonl"
FEELINGS = {"positive": ("joy", "pride"), "negative": ("anger", "sadness")}


@pytest.fixture
def scenes(tmp_path: Path) -> Path:
    """Six scenes without gold; whose feeling is good is all that is known."""
    rows = []
    for row in read_rows(str(SAMPLE))[:6]:
        emotion = row.data["agent_a_emotion"]
        side = "positive" if emotion in {"joy", "pride", "relief", "gratitude", "excitement"} else "negative"
        kept = {name: row.data[name] for name in ("id", "sentence", "setting", "agent_a_role", "agent_b_role", "mode")}
        rows.append({**kept, "agent_a_polarity": side})
    path = tmp_path / "scenes.jsonl"
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def project(cli: Cli, tmp_path: Path, scenes: Path) -> Project:
    done = cli("annotate", "init", tmp_path / "round", "--design", "chiaro", "--items", scenes)
    assert done.code == 0, done.err
    assert "6 items, 2 people each" in done.out
    return find_project(tmp_path / "round")


def label(project: Project, differ: dict[str, set[str]], *, skip: set[str] = frozenset()) -> None:  # type: ignore[assignment]
    """Ann and Bob answer everything; Bob differs on some slots of some items, and skips some items."""
    with project.opened() as store:
        with store.read() as conn:
            run = Running(store, stored.current_design(conn))
        run.join("judge", "adjudicator")
        for name in ("ann", "bob"):
            run.join(name)
            while (item := run.claim(name)) is not None:
                if name == "bob" and item in skip:
                    run.submit(name, item, {}, skipped="unclear")
                    continue
                run.submit(name, item, values_of(run, item, differ.get(item, set()) if name == "bob" else set()))


def values_of(run: Running, item: str, differ: set[str]) -> dict[str, Any]:
    with run.store.read() as conn:
        unit = stored.unit_of(conn, item)
    assert unit is not None
    return {slot: options[1 if slot in differ else 0].id for slot, options in unit.options.items()}


def ids(scenes: Path) -> list[str]:
    return [row.data["id"] for row in read_rows(str(scenes))]


def test_a_whole_round(cli: Cli, project: Project, scenes: Path, tmp_path: Path, script: str) -> None:
    first, second, *_ = ids(scenes)
    label(project, {first: {"A"}, second: {"A", "B"}})
    status = cli("annotate", "status", project.folder, "--json").json
    assert (status["items"], status["complete"]) == (6, 6)
    assert status["slots"] == {"A": {"disagree": 2, "unanimous": 4}, "B": {"disagree": 1, "unanimous": 5}}

    agreement = cli("annotate", "agreement", project.folder, "--json").json
    shares = {slot: found["headline"][0]["value"] for slot, found in agreement.items()}
    # A scene has one good and one bad feeling. They differ on A of the first, which is bad, and on both of the second.
    by_polarity = {"positive (A, B)": 5 / 6, "negative (A, B)": 4 / 6}
    assert shares == {slot: pytest.approx(share) for slot, share in ({"A": 4 / 6, "B": 5 / 6} | by_polarity).items()}
    assert all(found["headline"][0]["clusters"] == 6 for found in agreement.values())
    assert any("offers 5 of the 10 labels (1/5 by chance)" in note for note in agreement["A"]["notes"])
    modes = cli("annotate", "agreement", project.folder, "--by", "mode", "--json").json
    assert (
        sum(found["headline"][0]["n"] for slot, found in modes.items() if slot.startswith("A (mode: ")) == 12
    )  # answers
    assert "they have: mode" in cli("annotate", "agreement", project.folder, "--by", "colour").err

    gold = tmp_path / "gold.jsonl"
    refused = cli("annotate", "export", project.folder, "--out", gold, "--form", "gold", "--strict")
    assert refused.code == 2
    assert "3 of 12 slots are pending (A 2, B 1)" in refused.err
    assert not gold.exists()

    queue = cli("annotate", "adjudicate", project.folder, "--json").json
    assert sorted((row["item"], row["slot"]) for row in queue) == sorted([(first, "A"), (second, "A"), (second, "B")])
    assert not any(name in json.dumps(queue) for name in ("ann", "bob"))
    for row in queue:
        value = row["candidates"][0].partition(": ")[2]
        decided = cli(
            "annotate",
            "adjudicate",
            project.folder,
            "--decide",
            f"{row['item']}.{row['slot']}",
            "--value",
            value,
            "--by",
            "judge",
        )
        assert decided.code == 0, decided.err
    assert "Nothing is waiting" in cli("annotate", "adjudicate", project.folder).out

    told = cli("annotate", "export", project.folder, "--out", gold, "--form", "gold", "--strict")
    assert told.code == 0, told.err
    assert "A: " in told.out
    sources = [json.loads(line)["source"] for line in gold.read_text("utf-8").splitlines()]
    assert sorted(sources) == ["adjudicated"] * 3 + ["unanimous"] * 9

    filled = tmp_path / "filled.jsonl"
    done = cli(
        "annotate", "export", project.folder, "--out", filled, "--form", "benchmark", "--items", scenes, "--strict"
    )
    assert done.code == 0, done.err
    ran = cli("run", "chiaro", "--model", script, "--data", filled, "--out", tmp_path / "run", "--json")
    assert ran.code == 0, ran.err


def test_columns_that_are_called_otherwise(cli: Cli, scenes: Path, tmp_path: Path, script: str) -> None:
    """What ``init --map`` reads, ``export --form benchmark --map`` fills."""
    source = tmp_path / "szenen.jsonl"
    source.write_text(scenes.read_text("utf-8").replace('"sentence":', '"szene":'), encoding="utf-8")
    folder, filled = tmp_path / "r", tmp_path / "filled.jsonl"
    done = cli("annotate", "init", folder, "--design", "chiaro", "--items", source, "--map", "sentence=szene")
    assert done.code == 0, done.err
    export = ("annotate", "export", folder, "--out", filled, "--form", "benchmark", "--items", source)
    early = cli(*export, "--map", "sentence=szene")
    assert early.code == 2
    assert "No item has gold" in early.err
    assert not filled.exists()
    label(find_project(folder), {})
    assert "no column" in cli(*export, "--map", "sentence=text").err
    done = cli(*export, "--map", "sentence=szene", "--strict")
    assert done.code == 0, done.err
    ran = cli("run", "chiaro", "--model", script, "--data", filled, "--out", tmp_path / "run", "--json")
    assert ran.code == 0, ran.err


@pytest.mark.parametrize("name", ["chiaro", "cue", "decisions", "emoscene"])
def test_a_first_try_needs_no_file(cli: Cli, tmp_path: Path, name: str) -> None:
    done = cli("annotate", "init", tmp_path / "p", "--design", name)
    assert done.code == 0, done.err
    assert f"bundled with {name}" in done.out
    if name == "chiaro":
        label(find_project(tmp_path / "p"), {})
        filled = tmp_path / "gold.jsonl"
        done = cli("annotate", "export", tmp_path / "p", "--out", filled, "--form", "benchmark", "--strict")
        assert "60 items with gold" in done.out


def test_items_of_a_file_are_not_looked_for_among_the_bundled(cli: Cli, scenes: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    other.write_text(scenes.read_text("utf-8").replace("chiaro-sample", "mine"), encoding="utf-8")
    cli("annotate", "init", tmp_path / "p", "--design", "chiaro", "--items", other)
    done = cli("annotate", "export", tmp_path / "p", "--out", tmp_path / "x", "--form", "benchmark")
    assert "Give --items" in done.err


def test_an_export_spares_the_projects_own_files(cli: Cli, project: Project, scenes: Path, tmp_path: Path) -> None:
    label(project, {})
    copy = Path(cli("annotate", "backup", project.folder).out.strip())
    link = tmp_path / "link.jsonl"
    link.symlink_to(project.folder / "annotate.sqlite")
    own = [project.folder / "annotate.sqlite", project.folder / "annotate.sqlite-wal", project.folder / "project.json"]
    for out in (*own, copy, link):
        refused = cli("annotate", "export", project.folder, "--out", out)
        assert refused.code == 2
        assert "is one of the project's own files" in refused.err
    before = scenes.read_bytes()
    refused = cli("annotate", "export", project.folder, "--out", scenes, "--form", "benchmark", "--items", scenes)
    assert "is the file the items came from" in refused.err
    assert scenes.read_bytes() == before
    assert cli("annotate", "export", project.folder, "--out", project.folder / "long.csv").code == 0
    assert not [one for one in project.folder.iterdir() if one.name.startswith(".")]


@pytest.mark.parametrize("form", ["label-studio", "doccano", "argilla", "potato"])
def test_other_tools_files_come_back(cli: Cli, project: Project, scenes: Path, tmp_path: Path, form: str) -> None:
    first, *_ = ids(scenes)
    label(project, {first: {"A"}})
    out, again = tmp_path / "there", tmp_path / "again"
    done = cli("annotate", "export", project.folder, "--out", out, "--form", form)
    assert done.code == 0, done.err
    cli("annotate", "init", again, "--design", "chiaro", "--items", scenes)
    done = cli("annotate", "import", again, "--answers", out, "--form", form)
    assert done.code == 0, done.err
    assert "24 answers of 2 annotators added" in done.out
    figures = [cli("annotate", "agreement", one, "--json").json for one in (project.folder, again)]
    assert figures[0] == figures[1]


def test_a_form_without_a_place_for_any_answer_is_refused(cli: Cli, project: Project, tmp_path: Path) -> None:
    out = tmp_path / "there"
    done = cli("annotate", "export", project.folder, "--out", out, "--form", "doccano")
    assert done.code == 2
    assert "Nothing was written for doccano: there are no answers yet." in " ".join(done.err.split())
    assert not out.exists()


def test_partly_agreed_items_keep_what_is_agreed(cli: Cli, project: Project, scenes: Path, tmp_path: Path) -> None:
    first, *_ = ids(scenes)
    label(project, {first: {"A"}})
    gold = tmp_path / "gold.csv"
    assert cli("annotate", "export", project.folder, "--out", gold, "--form", "gold").code == 0
    rows = list(csv.DictReader(io.StringIO(gold.read_text("utf-8"))))
    found = {(row["item"], row["slot"]): row["source"] for row in rows}
    assert found[first, "A"] == "pending"
    assert sorted(found.values()) == ["pending"] + ["unanimous"] * 11


def test_skips_are_missing_and_not_a_category(cli: Cli, project: Project, scenes: Path) -> None:
    first, *_ = ids(scenes)
    label(project, {}, skip={first})
    status = cli("annotate", "status", project.folder, "--json").json
    assert status["slots"]["A"] == {"single": 1, "unanimous": 5}
    agreement = cli("annotate", "agreement", project.folder, "--json").json
    assert agreement["A"]["headline"][0]["n"] in {5, 10}  # five items, or their ten answers


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_exported_answers_come_back_the_same(
    cli: Cli, project: Project, scenes: Path, tmp_path: Path, suffix: str
) -> None:
    first, second, *_ = ids(scenes)
    label(project, {first: {"A"}}, skip={second})
    out = tmp_path / f"long.{suffix}"
    assert cli("annotate", "export", project.folder, "--out", out, "--bom").code == 0
    again = tmp_path / "again"
    cli("annotate", "init", again, "--design", "chiaro", "--items", scenes)
    done = cli("annotate", "import", again, "--answers", out)
    assert done.code == 0, done.err
    assert "of 2 annotators" in done.out
    figures = [cli("annotate", "agreement", one, "--json").json for one in (project.folder, again)]
    assert figures[0] == figures[1]
    twice = cli("annotate", "import", again, "--answers", out)
    assert "0 answers of 0 annotators added; 24 are there already" in twice.out  # 6 items, 2 people, 2 slots


def test_a_backup_brings_everything_back(cli: Cli, project: Project) -> None:
    label(project, {})
    before = cli("annotate", "status", project.folder, "--json").json
    copy = cli("annotate", "backup", project.folder).out.strip()
    (project.folder / "annotate.sqlite").write_bytes(b"SQLite format 3\x00" + b"broken" * 2000)
    damaged = cli("annotate", "status", project.folder)
    assert damaged.code == 1
    assert "restore" in damaged.err
    done = cli("annotate", "restore", project.folder, copy)
    assert done.code == 0, done.err
    assert cli("annotate", "status", project.folder, "--json").json == before


def test_a_changed_label_set_keeps_answers_or_says_what_they_become(cli: Cli, tmp_path: Path) -> None:
    items = tmp_path / "items.csv"
    items.write_text("id,text\na,One text.\nb,Another text.\n", encoding="utf-8")
    old, renamed, smaller = tmp_path / "old.toml", tmp_path / "renamed.toml", tmp_path / "smaller.toml"
    old.write_text(STUDY, encoding="utf-8")
    renamed.write_text("version = 2\n" + STUDY.replace('names = "Glad"', 'names = "Happy"'), encoding="utf-8")
    smaller.write_text(
        "version = 3\n" + STUDY.replace('{ id = "calm", names = "Calm" }', '{ id = "even", names = "Even" }')
    )
    folder = tmp_path / "p"
    assert cli("annotate", "init", folder, "--design", old, "--items", items).code == 0
    project = find_project(folder)
    with project.opened() as store:
        with store.read() as conn:
            run = Running(store, stored.current_design(conn))
        for name, mood in (("ann", "calm"), ("bob", "glad")):
            run.join(name)
            run.answer_all(name, {"mood": mood, "strength": 3})
    assert cli("annotate", "design", folder, "--design", renamed).code == 0
    out = tmp_path / "out.jsonl"
    cli("annotate", "export", folder, "--out", out)
    moods = {json.loads(line)["value"] for line in out.read_text("utf-8").splitlines() if '"mood"' in line}
    assert moods == {"calm", "glad"}
    refused = cli("annotate", "design", folder, "--design", smaller)
    assert refused.code == 2
    assert "--map mood.calm=NEW" in refused.err
    assert cli("annotate", "design", folder, "--design", smaller, "--map", "mood.calm=even").code == 0
    cli("annotate", "export", folder, "--out", out)
    rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert {row["value"] for row in rows if row["slot"] == "mood"} == {"even", "glad"}
    assert {row["schema"] for row in rows} == {"1"}  # the version they were given under
    assert cli("annotate", "design", folder, "--design", smaller).code == 2


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["init", "{full}", "--design", "chiaro", "--items", "{scenes}"], "not empty"),
        (["init", "{new}", "--design", "{own}"], "needs items"),
        (["init", "{new}", "--design", "chiaro", "--map", "sentence=text"], "--map names columns of --items"),
        (["init", "{new}", "--design", "{own}", "--items", "{scenes}"], "Say which one is meant: --map text=COLUMN"),
        (["init", "{new}", "--design", "chiaro", "--items", "{bare}"], "it needs agent_a_polarity"),
        (["init", "{new}", "--design", "nothing", "--items", "{scenes}"], "no design"),
        (["init", "{new}", "--design", "chiaro", "--items", "{scenes}", "--database", "mysql://x/y"], "postgresql"),
        (
            ["init", "{new}", "--design", "chiaro", "--items", "{scenes}", "--database", "postgresql://a:b@x/y"],
            "PGPASSWORD",
        ),
        (["status", "{new}"], "no annotation project"),
        (["restore", "{full}", "{scenes}"], "annotation"),
        (["export", "{full}", "--out", "{new}", "--form", "nothing"], "expected one of"),
        (["export", "{full}", "--out", "{new}", "--form", "benchmark"], "No item has gold"),
        (["invite", "{full}", "--for", "nobody"], "is nobody's name here"),
        (["serve", "{full}", "--host", "0.0.0.0"], "--public http://ADDRESS:8765"),
        (["adjudicate", "{full}", "--decide", "nothing.A", "--value", "joy"], "There is no"),
        (["adjudicate", "{full}", "--decide", "nothing.A"], "--value or --no-gold"),
        (["import", "{full}"], "--items FILE or --answers FILE"),
        (["agreement", "{full}"], "no answers"),
    ],
)
def test_what_cannot_be_done_is_said(
    cli: Cli, project: Project, scenes: Path, tmp_path: Path, arguments: list[str], told: str
) -> None:
    own, bare = tmp_path / "own.toml", tmp_path / "bare.jsonl"
    own.write_text(STUDY, encoding="utf-8")
    bare.write_text(scenes.read_text("utf-8").replace("agent_a_polarity", "side"), encoding="utf-8")
    named = {"full": project.folder, "new": tmp_path / "new", "scenes": scenes, "own": own, "bare": bare}
    done = cli("annotate", *(one.format(**named) for one in arguments))
    assert done.code in {1, 2}
    assert told in done.err
    assert "bug in affectlab" not in done.err
    assert "--protocol" not in done.err  # init has none


@pytest.mark.parametrize(("number", "told"), [(30, "none"), (31, "1"), (60, "")])  # 5 % of 31 are 2; 31 - 30 = 1
def test_a_project_that_is_too_short_for_repeats_says_so(cli: Cli, tmp_path: Path, number: int, told: str) -> None:
    design = tmp_path / "moods.toml"
    design.write_text(
        'name = "moods"\ntitle = "Moods"\nrepeat_share = 0.05\nshown = [{ field = "text", main = true }]\n'
        'skip_reasons = [{ id = "unclear", names = "?" }]\n[guidelines]\nversion = "1"\ntext = "Read."\n'
        '[[slots]]\nid = "mood"\nkind = "yes_no"\ntitle = "Glad?"\n',
        encoding="utf-8",
    )
    items = tmp_path / "items.jsonl"
    items.write_text("".join(f'{{"id": "i{n}", "text": "Text {n}."}}\n' for n in range(number)), encoding="utf-8")
    done = cli("annotate", "init", str(tmp_path / "p"), "--design", str(design), "--items", str(items))
    assert done.code == 0, done.err
    assert ("Items shown again" in done.out) == bool(told)
    assert not told or f"Items shown again to a person: {told}. The design wants 5% of them" in done.out
