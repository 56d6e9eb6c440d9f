"""Figures on the administrator's pages: all of them, and in the language of the page."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest
from tests.annotate.support import Running, running, study

from affectlab.annotate.agreement import figures_table
from affectlab.annotate.design_file import read_design
from affectlab.annotate.project_agreement import project_agreement
from affectlab.annotate.quality import Limits, Work, sheet, sheet_rows
from affectlab.annotate.sources import read_units
from affectlab.annotate.store import project
from affectlab.annotate.store.engine import Store
from affectlab.annotate.web.figures import Shown, cell_text, in_language, matrix_view, table_view
from affectlab.metrics.scores import Matrix, Table
from affectlab.stats.agreement import REASONS
from affectlab.stats.agreement.sentence import NAMES
from affectlab.stats.estimate import Estimate


@pytest.fixture
def run(sqlite_store: Store) -> Running:
    """Two people differ in all twelve items; their reader may read English or Chinese."""
    run = running(sqlite_store, study(), items=12)
    for name in ("ann", "bob"):
        run.join(name)
    run.join("boss", "admin")
    for name, mood, strength in (("ann", "glad", 2), ("bob", "sad", 4)):
        run.answer_all(name, {"mood": mood, "strength": strength, "why": "so"})
    return run


def seen(run: Running, path: str, language: str) -> str:
    """Text of a page for the administrator."""
    page = run.client("boss").get(f"{path}?lang={language}").text.split("<main", 1)[1].split(">", 1)[1]
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())


def test_the_page_of_agreement_has_every_coefficient_and_the_sentence_for_the_paper(run: Running) -> None:
    page = seen(run, "/admin/agreement", "en")
    with run.store.read() as conn:
        found = project_agreement(conn, run.design)
    for slot in found:
        for row in figures_table(slot).rows:
            assert str(row[0]) in page
    for name in ("Fleiss' κ", "Gwet's AC1", "Krippendorff's α (ordinal)", "ICC(A,1)"):
        assert name in page
    assert "For mood, 2 annotators gave 24 answers on 12 items" in page
    assert "Brackets hold 95 % percentile intervals of a bootstrap over items" in page


@pytest.mark.parametrize("path", ["/admin", "/admin/agreement", "/admin/people/{}", "/admin/items/i0"])
def test_chinese_pages_are_chinese(run: Running, path: str) -> None:
    text = run.client("boss").get(f"{path.format(run.persons['ann'].id)}?lang=zh").text
    page = text.split("<main", 1)[1].split(">", 1)[1]
    page = re.sub(r'<(code|span lang="en"|li><a href="/admin/files).*?</(code|span|li)>', " ", page)
    page = html.unescape(re.sub(r"<[^>]+>", " ", page))
    # The study has no Chinese words of its own, apart from its title; names of people and of coefficients stay.
    own = re.findall(
        "[A-Za-z]+", "Which mood? How strong, strength? Why? why Glad Sad Calm ann bob boss Text number all"
    )
    names = ["Cohen", "Krippendorff", "Fleiss", "Gwet", "ICC", "Bowker", "AC1"]
    ids = [one.id for one in run.persons.values()]
    assert set(re.findall(r"[A-Za-z][A-Za-z0-9-]{2,}", page)) - {*own, *names, *ids} == set()


def test_chiaros_agreement_is_told_in_chinese_with_its_notes_and_labels(sqlite_store: Store) -> None:
    design = read_design("chiaro")
    run = running(sqlite_store, design, items=0)
    with run.store.write() as conn:
        sample = Path(__file__).resolve().parents[3] / "src/affectlab/benchmarks/chiaro/sample.jsonl"
        project.add_units(conn, design, read_units(design, str(sample))[:8], 0)
    for name in ("ann", "bob", "boss"):
        run.join(name, "admin" if name == "boss" else "annotator")
    for name, place in (("ann", 0), ("bob", 1)):
        while (item := run.claim(name)) is not None:
            with run.store.read() as conn:
                unit = project.unit_of(conn, item)
            assert unit is not None
            odd = int(item[-1]) % 2  # there Bob takes the second option
            chosen = {slot: options[place * odd].id for slot, options in unit.options.items()}
            run.submit(name, item, chosen)
    text = run.client("boss").get("/admin/agreement?lang=zh").text.split("<main", 1)[1].split(">", 1)[1]
    page = html.unescape(re.sub(r"<[^>]+>", " ", re.sub(r'<span lang="en".*?</span>', " ", text)))
    assert "每个条目从 10 个标签中提供 5 个（随机为 1/5）。" in page
    names = {"Cohen", "Krippendorff", "Fleiss", "Gwet", "Bowker", "AC1", "positive", "negative"}
    assert (
        set(re.findall(r"[A-Za-z][A-Za-z0-9-]{2,}", page)) - names - {one.id for one in run.persons.values()} == set()
    )


def test_every_name_and_reason_has_chinese_words() -> None:
    named = [name[:1].upper() + name[1:] for name in NAMES.values() if not name.startswith(("ICC", "Cohen's"))]
    why = [text for key, words in REASONS.items() for text in (f"{key}: {words}.", key.replace("_", " "))]
    for text in (*named, *why):
        assert in_language(text, "zh") != text
        assert in_language(text, "en") == text


def test_sentences_are_put_into_chinese_one_by_one_with_what_they_hold() -> None:
    note = "7 of 12 items with two annotators on both slots are agreed on in A."
    more = "3 answers are left out: their annotator did not answer A."
    told = "两题都有两位标注者的 12 个条目中，7 个在 A 上一致。", "未计入 3 个回答：其标注者没有回答 A。"
    assert in_language(f"{note} {more}", "zh") == "".join(told)
    lean = "{} and {} lean different ways (Bowker's test of symmetry, p = 0.04)".format
    assert (
        in_language(f"{lean('a', 'b')}; {lean('a', 'c')}", "zh").count("倾向不同（Bowker 对称性检验，p = 0.04）") == 2
    )
    assert in_language("Something nobody has translated.", "zh") == "Something nobody has translated."


def test_cells_are_told_with_intervals_or_why_there_are_none() -> None:
    assert cell_text(Estimate("a", 0.5, 0.25, 0.75, unit="share")) == "50.0 % [25.0, 75.0]"
    assert cell_text(Estimate("k", -0.1, unit="number")) == "−0.100"
    assert cell_text(Estimate("k", None, reason="no_units", unit="number")) == "– (no units)"
    assert cell_text(Estimate("k", None, reason="no_units", unit="number"), "zh") == "– (无可比条目)"
    assert cell_text(None) == "–"


def test_values_are_named_and_figures_are_told_from_words() -> None:
    table = Table("t", "By value", ("value", "times given"), (("glad", 3), ("glad, sad", 1)), "")
    view = table_view(table, "zh", {"glad": "高兴", "sad": "难过"})
    assert view.columns == ("值", "次数")
    assert view.rows == ((Shown("高兴"), Shown("3", True)), (Shown("高兴, 难过"), Shown("1", True)))
    matrix = Matrix("m", "a against b", "a", "b", ("glad", "sad"), ("glad", "sad"), ((1.0, 0.0), (2.0, 3.0)))
    drawn = matrix_view(matrix, "zh", {"glad": "高兴"})
    assert drawn.title == "a 对 b"
    assert drawn.columns == ("a / b", "高兴", "sad")
    assert drawn.rows[1] == (Shown("sad"), Shown("2", True), Shown("3", True))


def test_sheets_and_their_flags_are_put_into_chinese() -> None:
    many = [Work(f"i{n}", "work", "x " * 900, {"mood": "glad"}, "", 0.0, 500) for n in range(20)]
    odd = [Work("a", "attention", "x", {"mood": "sad"}, "", 9.0, 500, {"mood": "glad"})]
    found = sheet(study(), [*many, *odd], {}, Limits(fewest=2))
    assert {flag.name for flag in found.flags} >= {"too_fast", "burst", "pattern", "attention"}
    rows = [text for row in sheet_rows(found) for text in row if re.search("[a-z]{3}", text)]
    flags = [text for flag in found.flags for text in (flag.evidence, flag.name.replace("_", " "))]
    for text in (*rows, *flags):
        told = in_language(text, "zh")
        assert set(re.findall("[A-Za-z]{3,}", told)) <= {"mood", "strength"}, text
