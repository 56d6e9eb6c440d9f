from __future__ import annotations

import html as escapes
import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from affectlab.metrics.scores import Matrix, Scores, Table
from affectlab.report.html import document_html, run_html, table_html
from affectlab.report.model import Document, Example, RunReport, Section, SlotAnswer, Turn

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&" + "\x1b[31m\x07\u202e\x9b" + "x" * 90


class Reader(HTMLParser):
    """Collects elements, ids and text, and checks that what is opened is closed."""

    VOID = frozenset({"meta", "br", "img", "link", "input", "hr", "wbr"})

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1][0] == "wbr":  # a place to break a name, not its end
            self.text[-1] += data
        else:
            self.text.append(data)

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]

    @property
    def ids(self) -> list[str]:
        return [str(attributes["id"]) for _, attributes in self.tags if "id" in attributes]


@pytest.fixture(scope="module")
def evil_report() -> RunReport:
    table = Table(EVIL, EVIL, (EVIL, "F1"), ((EVIL, 0.5),), EVIL)
    matrix = Matrix(f"{EVIL} m", EVIL, EVIL, EVIL, (EVIL, "b"), (EVIL, "b"), ((1.0, 2.0), (3.0, None)), EVIL)
    scores = Scores(
        headline=(), tables=(table, replace(table, id="by_x")), matrices=(matrix,), notes=(EVIL,), signature=EVIL
    )
    example = Example(EVIL, EVIL, (Turn(EVIL, EVIL, EVIL),), (SlotAnswer(EVIL, EVIL, EVIL, EVIL, None),), EVIL)
    manifest = {"command": EVIL, EVIL: {EVIL: [EVIL]}, "model": {"name": EVIL}}
    return RunReport(manifest, EVIL, EVIL, EVIL, {EVIL: scores}, examples=(example,))


@pytest.fixture(scope="module")
def page(run_report: RunReport) -> str:
    return run_html(run_report)


@pytest.fixture(scope="module")
def evil_page(evil_report: RunReport) -> str:
    return run_html(evil_report)


@pytest.fixture(scope="module")
def page_of_conditions(run_report: RunReport, scores: Scores) -> str:
    side_by_side = Table("conditions", "Conditions side by side", ("condition", "p"), (("anger +0.1", 0.03),))
    several = {"neutral": scores, "anger +0.1": scores}
    return run_html(replace(run_report, scores=several, overview=side_by_side))


def test_everything_is_shown(page: str, run_report: RunReport, scores: Scores) -> None:
    text = escapes.unescape(" ".join(Reader(page).text))
    for table in scores.tables:
        assert table.title in text
        assert all(str(row[0]) in text for row in table.rows)
        assert table.note in text
    for matrix in scores.matrices:
        assert matrix.title in text
        assert all(label in text for label in matrix.columns)
    for note in (*scores.notes, scores.signature):
        assert note in text
    for row in run_report.references:
        assert row.name in text
        assert row.source in text
    for example in run_report.examples:
        for turn in example.turns:
            assert turn.prompt in text
            assert turn.reply in text
    for fact in (
        "31.4 %",
        "95 % interval 24.4 to 38.4",
        "Only one label was ever predicted.",
        "9f" * 32,
        "3f2a91cc" * 8,
    ):
        assert fact in text
    assert "affectlab run chiaro --model smollm2 --out runs/first" in text
    assert "The interval lies above chance (20.0)." in text


def test_the_page_loads_nothing_and_runs_nothing(page: str, evil_page: str) -> None:
    for one in (page, evil_page):
        reader = Reader(one)
        assert not {"script", "link", "img", "iframe", "object", "embed", "base"} & {tag for tag, _ in reader.tags}
        policies = [
            meta["content"] for meta in reader.named("meta") if meta.get("http-equiv") == "Content-Security-Policy"
        ]
        assert policies == ["default-src 'none'; style-src 'unsafe-inline'; img-src data:"]
        for _, attributes in reader.tags:
            assert not any(name.startswith("on") for name in attributes)
            for name in ("src", "href", "xlink:href", "srcset", "data", "action"):
                assert (attributes.get(name) or "#").startswith("#")
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)
    assert style is not None
    assert "url(" not in style.group(1)
    assert "@import" not in style.group(1)


def test_every_text_is_escaped(evil_page: str) -> None:
    assert "<script" not in evil_page
    assert "<img" not in evil_page
    assert evil_page.count("&lt;script&gt;") > 15
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", evil_page)
    assert evil_page.count(r"\x1b[31m\x07\u202e\x9b") > 15


def test_links_lead_somewhere_and_ids_are_unique(page: str, evil_page: str, page_of_conditions: str) -> None:
    for one in (page, evil_page, page_of_conditions):
        reader = Reader(one)
        assert len(reader.ids) == len(set(reader.ids))
        links = [str(link["href"])[1:] for link in reader.named("a")]
        assert links
        assert set(links) <= set(reader.ids)


def test_tables_are_accessible(page: str, run_report: RunReport) -> None:
    assert len(Reader(page).named("h1")) == 1
    assert all(cell.get("scope") in ("row", "col") for cell in Reader(page).named("th"))
    assert all(svg.get("aria-label") for svg in Reader(page).named("svg"))
    assert page.count("<caption") >= len(run_report.scores["neutral"].tables)


def test_own_row_stands_out_in_place(page: str) -> None:
    own = re.findall(r'<tr class="own"><th scope="row">(.*?)</th>', page)
    assert own == ["SmolLM2-135M-Instruct (this run)"]


def test_several_conditions_start_with_an_overview(page_of_conditions: str) -> None:
    page = page_of_conditions
    assert re.findall(r"<h2.*?>(.*?)</h2>", page) == [
        "Scores",
        "Beside published figures",
        "Condition: neutral",
        "Details, neutral",
        "Condition: anger +0.1",
        "Details, anger +0.1",
        "Replies, as they came",
        "How this was made",
    ]
    assert page.index("Conditions side by side</h3>") < page.index("Scores by condition</h3>")
    assert page.index("Scores by condition</h3>") < page.index(">Condition: neutral</h2>")


def test_run_without_anything() -> None:
    page = run_html(RunReport({}, "B", "", "", {"neutral": Scores(headline=(), notes=("No gold.",))}))
    assert "No gold." in "".join(Reader(page).text)
    Reader(run_html(RunReport({}, "B", "", "", {})))


def test_document(comparison: Document) -> None:
    matrix = Matrix(
        "m", "Joint correctness", "A", "B", ("right", "wrong"), ("right", "wrong"), ((1.0, 2.0), (3.0, 4.0))
    )
    section = replace(comparison.sections[0], matrices=(matrix,))
    page = document_html(replace(comparison, sections=(section, section)))
    reader = Reader(page)
    text = " ".join(reader.text)
    for part in (
        "Paired differences",
        "+8.8",
        "Joint correctness",
        "Holm-corrected",
        "runs/second",
        comparison.summary,
    ):
        assert part in text
    assert len(reader.ids) == len(set(reader.ids))


def test_matrix_as_a_table_marks_its_diagonal() -> None:
    matrix = Matrix("m", "M", "gold", "predicted", ("a", "b"), ("a", "b", "none"), ((1.0, 2.0, 5.0), (3.0, 4.0, None)))
    page = document_html(Document("D", "", (Section("S", matrices=(matrix,)),)))
    rows = re.findall(r'<th scope="row">(\w)</th>(.*)</tr>', page)
    cells = [(label, re.findall(r'<td class="figure( diagonal)?">(.*?)</td>', row)) for label, row in rows]
    assert cells == [
        ("a", [(" diagonal", "1"), ("", "2"), ("", "5")]),
        ("b", [("", "3"), (" diagonal", "4"), ("", "–")]),
    ]
    assert "M: gold in rows, predicted in columns" in page


def test_names_may_be_broken_at_their_joints_only() -> None:
    fragment = table_html(Table("t", "T", ("condition", "F1"), (("anger@0.025:relative:seed=1<b>", 0.5),)))
    assert '<th scope="row">anger@0.025:<wbr>relative:<wbr>seed=1&lt;b&gt;</th>' in fragment


def test_a_map_of_changes_says_what_its_colours_mean_without_a_note_too() -> None:
    changes = Matrix("m", "M", "layer", "strength", ("20", "21"), ("1", "2"), ((-3.31, 1.5), (0.5, 1.0)))
    page = document_html(Document("D", "", (Section("", matrices=(changes,)),)))
    assert "Shading: blue above 0, orange below" in page
    assert "share of the row" not in page
    assert ">−3.310<" in page


def test_a_section_without_a_title_has_no_heading_and_its_tables_are_in_the_contents(comparison: Document) -> None:
    table = comparison.sections[0].tables[0]
    page = document_html(Document("D", "", (Section("", tables=(table,)),), {"A": "runs/first"}))
    assert re.findall(r"<h2 [^>]*>(.*?)</h2>", page) == ["How this was made"]
    links = re.findall(r"<li><a href=\"#(.*?)\">(.*?)</a></li>", page)
    assert links == [("s1-differences", table.title), ("made", "How this was made")]


def test_each_of_several_replies_says_what_it_answers(run_report: RunReport) -> None:
    turns = (Turn("stance", "How does she stand?", "Negative"), Turn("emotion", "What does she feel?", ""))
    example = Example("First item", "i1", turns, ())
    text = " ".join(Reader(run_html(replace(run_report, examples=(example,)))).text)
    shown = ("stance", "How does she stand?", "Negative", "emotion", "What does she feel?", "The reply was empty.")
    places = [text.index(part, text.index("First item")) for part in shown]
    assert places == sorted(places)
    # Many short ones stand in a table, their prompts folded together.
    many = replace(example, turns=tuple(Turn(f"core_{n}", f"prompt {n}", f"reply {n}") for n in range(4)))
    page = run_html(replace(run_report, examples=(many,)))
    assert page.count("<summary>Prompts</summary>") == 1
    assert '<th scope="row">core_<wbr>3</th><td class="raw">reply 3</td>' in page


def test_table_fragment() -> None:
    fragment = table_html(Table("t", "A <title>", ("label", "F1"), (("joy", 0.5),)))
    assert "A &lt;title&gt;" in fragment
    assert "50.0" in fragment
    assert "<html" not in fragment


def test_same_run_same_bytes(page: str, run_report: RunReport) -> None:
    assert page == run_html(run_report)


MEASURE = """<script>addEventListener("load", () => {
const wide = [...document.querySelectorAll("*")].filter(e => !e.closest(".scroll") && !e.matches(".heard")
  && e.getBoundingClientRect().right > innerWidth + 1).map(e => e.tagName + "." + e.className);
document.title = JSON.stringify({inner: innerWidth, page: document.documentElement.scrollWidth, wide});
parent.postMessage(document.title, "*");
});</script>"""


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="needs headless Chromium, which is not installed")
@pytest.mark.parametrize(
    ("name", "width"), [*(("page", width) for width in (360, 390, 800, 1280)), ("evil_page", 390), ("evil_page", 800)]
)
def test_the_page_fits_the_window(request: pytest.FixtureRequest, tmp_path: Path, name: str, width: int) -> None:
    """Measured in a frame, since Chromium's windows are at least 500 pixels wide; only the copy has a script."""
    page = request.getfixturevalue(name)
    measuring = re.sub(r"<meta http-equiv=.*?>", "", page).replace("</body>", MEASURE + "</body>")
    frame = (
        "<body><script>addEventListener('message', e => { document.body.dataset.measured = e.data })</script>"
        f'<iframe style="width:{width}px;height:900px;border:0" srcdoc="{escapes.escape(measuring)}"></iframe>'
    )
    (tmp_path / "frame.html").write_text(frame, encoding="utf-8")
    assert CHROMIUM is not None
    flags = "--headless --no-sandbox --disable-gpu --no-first-run --hide-scrollbars --disable-sync"
    command = [
        CHROMIUM,
        *flags.split(),
        "--disable-background-networking",
        "--disable-component-update",
        f"--user-data-dir={tmp_path / 'profile'}",
        "--virtual-time-budget=4000",
    ]
    dump = subprocess.run(
        [*command, "--window-size=1400,1000", "--dump-dom", (tmp_path / "frame.html").as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    ).stdout
    measured = re.search(r'data-measured="([^"]*)"', dump)
    assert measured is not None
    assert escapes.unescape(measured.group(1)) == f'{{"inner":{width},"page":{width},"wide":[]}}'


def test_what_is_about_all_conditions_comes_first_and_apart(decisions_report: RunReport) -> None:
    page = run_html(decisions_report)
    reader = Reader(page)
    headings = re.findall(r"<h2 [^>]*>(.*?)</h2>", page)
    assert headings[:4] == [
        "All conditions together",
        "Scores",
        "Beside published figures",
        "All conditions together, in detail",
    ]
    first = page[page.index(">All conditions together</h2>") : page.index(">Scores</h2>")]
    assert re.findall(r"<h3>(.*?)</h3>", first) == [
        "NDM",
        "NAD",
        "NDM, emotion minus random",
        "Read this with the figures",
    ]
    # None of them is printed larger than the others.
    assert "card main" not in first
    assert "Means over all of it." in first
    assert page.count("Means over all of it.") == 1
    detail = page[page.index(">All conditions together, in detail</h2>") : page.index(">Each condition</h2>")]
    assert detail.count("<svg") == 1
    assert "+40.0*" in detail
    assert "<summary>The same as a table</summary>" in detail
    # The row of neutral holds its own figures alone.
    by_condition = page[
        page.index('id="by-condition"') if 'id="by-condition"' in page else page.index(">Scores</h2>") :
    ]
    row = by_condition[by_condition.index('<th scope="row">neutral</th>') :]
    assert "0.118" not in row[: row.index("</tr>")]
    assert len(reader.ids) == len(set(reader.ids))
    assert {str(link["href"])[1:] for link in reader.named("a")} <= set(reader.ids)


def test_many_conditions_are_folded_and_say_what_is_in_them(decisions_report: RunReport, run_report: RunReport) -> None:
    page = run_html(decisions_report)
    assert page.count('<details class="part">') == 6
    summary = re.search(r'<summary><h3 id="c-anger[^>]*>anger@1.0</h3><span>(.*?)</span>', page)
    assert summary is not None
    assert summary.group(1).startswith("Macro-F1 31.4 % · ")
    assert summary.group(1).endswith("NDM 0.900 · 2 notes")
    # Where nothing stands for all of them, the first condition is open; few conditions stay as they are.
    alike = dict.fromkeys("abcde", run_report.scores["neutral"])
    assert run_html(replace(run_report, scores=alike)).count('<details class="part" open>') == 1
    few = run_html(replace(run_report, scores={name: alike[name] for name in "abcd"}))
    assert 'class="part"' not in few
    assert "Details, d" in few


def test_a_long_table_of_published_figures_is_folded(decisions_report: RunReport) -> None:
    page = run_html(decisions_report)
    near = page[page.index('id="nearest"') : page.index('id="references"')]
    # 0.118 lies between papers 11 and 12: four rows on each side.
    assert re.findall(r">(paper \d+)<", near) == [f"paper {n}" for n in (15, 14, 13, 12, 11, 10, 9, 8)]
    assert "<summary>41 rows</summary>" in page
    assert "(this run, mean over its emotions)" in near
    assert "anger@1.0" not in near
