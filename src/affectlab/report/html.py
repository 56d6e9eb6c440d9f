"""The HTML report: one file that loads nothing, runs no script, and reads well on a phone and in the dark."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from affectlab.metrics.scores import Matrix, Scores, Table
from affectlab.report import cells, words
from affectlab.report.model import LAST_TABLES, Document, RunReport
from affectlab.report.names import figure_name
from affectlab.report.references import baselines, nearest, standing
from affectlab.report.views import (
    Block,
    Page,
    SectionView,
    TableView,
    anchor,
    card,
    details,
    matrix_view,
    table_view,
)

if TYPE_CHECKING:
    from jinja2 import Environment

_SMALL_COLUMNS = 4
_FOLDED = 4
"""With more conditions than this each is folded."""
_LANDMARKS = 4
"""Published rows shown on each side of this run's where there are very many."""
_ALL = "all"
"""Prefix of the anchors of all conditions together."""


def run_html(report: RunReport) -> str:
    """The report of one run as a self-contained HTML page."""
    from affectlab.report.figures import PUBLISHED, figures_of

    several, together = len(report.scores) > 1, report.together
    drawn = {(condition, name): figure for condition, name, figure in figures_of(report)}

    def in_detail(condition: str, scores: Scores, prefix: str, title: str) -> SectionView:
        mine = {name: figure for (of, name), figure in drawn.items() if of == condition}
        small = (cells.scale_note(scores.tables), *((f"Signature: {scores.signature}",) if scores.signature else ()))
        blocks = _result_blocks(scores, prefix, mine)
        return SectionView(anchor(prefix, "details"), title, small=small, blocks=blocks)

    sections: list[SectionView] = []
    if together is not None and together.headline:
        sections.append(_together(together))
    if several:
        sections.append(_overview(report))
    else:
        sections += [_headline(report, condition, "") for condition in report.scores]
    sections += _published(report, drawn.get(("", PUBLISHED)))
    if together is not None:
        sections.append(in_detail("", together, _ALL, "All conditions together, in detail"))
    each = [
        (
            _headline(report, condition, anchor("c", condition) if several else ""),
            in_detail(
                condition,
                scores,
                anchor("c", condition) if several else "",
                f"Details, {condition}" if several else "In detail",
            ),
        )
        for condition, scores in report.sheets.items()
    ]
    if len(each) > _FOLDED:
        parts = tuple(_fold(condition, *views) for condition, views in zip(report.sheets, each, strict=True))
        opened = () if together is not None else (replace(parts[0], opened=True),)
        sections.append(SectionView("each", "Each condition", parts=(*opened, *parts[len(opened) :])))
    else:
        sections += [view for views in each for view in (views if several else views[1:])]
    if report.examples:
        sections.append(SectionView("examples", "Replies, as they came", examples=report.examples))
    sections.append(_made(report.manifest, report.paper))
    page = Page(
        tab_title=f"{report.model_name} on {report.benchmark_title}",
        title=f"{report.model_name} on {report.benchmark_title}",
        lead=report.benchmark_question,
        facts=_facts(report.manifest),
        sections=tuple(sections),
        footer=_footer(report.manifest),
    )
    return _render(page)


def document_html(document: Document) -> str:
    """A comparison or any other set of tables as a self-contained HTML page."""
    from affectlab.report.heatmap import heatmap

    sections = [
        SectionView(
            anchor("s", str(index), section.title),
            section.title,
            small=(cells.scale_note(section.tables),),
            notes=section.notes,
            blocks=(
                *(_document_block(table, f"s{index}") for table in section.tables),
                *(_matrix_block(matrix, f"s{index}", heatmap(matrix)) for matrix in section.matrices),
            ),
        )
        for index, section in enumerate(document.sections, start=1)
    ]
    if document.details:
        sections.append(SectionView("made", "How this was made", details=details(document.details, "Settings")))
    return _render(Page(document.title, document.title, document.summary, (), tuple(sections), "Made with affectlab."))


def table_html(table: Table) -> str:
    """A table as an HTML fragment, for notebooks (``_repr_html_``). Styled by the page it is put into."""
    parts = _templates().get_template("parts.html.j2").make_module()
    fragment: Markup = getattr(parts, "table")(table_view(table))  # noqa: B009
    return str(fragment)


def _together(scores: Scores) -> SectionView:
    """Figures of all conditions together: side by side, since none can be read without the others."""
    return SectionView(
        "run",
        "All conditions together",
        cards=tuple(card(estimate, {}) for estimate in scores.headline),
        alike=True,
        small=(*filter(None, (cells.scale_note((), scores.headline),)), *words.methods(scores.headline)),
        notes=scores.notes,
    )


def _fold(condition: str, scores: SectionView, details: SectionView) -> SectionView:
    """A condition's figures and details as one part that opens; closed, it still says its figures and warnings."""
    said = [f"{one.name} {one.value}" for one in scores.cards]
    if scores.notes:
        said.append(f"{len(scores.notes)} note{'s' if len(scores.notes) > 1 else ''}")
    return replace(
        scores, title=condition, line=" · ".join(said), small=(*scores.small, *details.small), blocks=details.blocks
    )


def _headline(report: RunReport, condition: str, prefix: str) -> SectionView:
    scores = report.sheets[condition]
    return SectionView(
        anchor(prefix, "scores"),
        f"Condition: {condition}" if prefix else "Scores",
        cards=tuple(card(estimate, baselines(report, condition, estimate.name)) for estimate in scores.headline),
        small=words.methods(scores.headline),
        notes=scores.notes,
    )


def _overview(report: RunReport) -> SectionView:
    names = dict.fromkeys(estimate.name for scores in report.sheets.values() for estimate in scores.headline)
    rows = []
    for condition, scores in report.sheets.items():
        mine = {estimate.name: estimate for estimate in scores.headline}
        rows.append((condition, *(mine.get(name) for name in names)))
    table = Table("conditions", "Scores by condition", ("Condition", *map(figure_name, names)), tuple(rows))
    tables = (table,) if report.overview is None else (report.overview, replace(table, id="by-condition"))
    blocks = tuple(Block("table", table=table_view(one)) for one in tables)
    return SectionView("scores", "Scores", small=(cells.scale_note(tables),), blocks=blocks)


def _published(report: RunReport, figure: Any | None) -> list[SectionView]:
    place = standing(report)
    if place is None:
        return []
    blocks = _figure_block(figure, "published-figure", "")
    near = nearest(place, _LANDMARKS)
    if near is None:
        blocks += (Block("table", table=table_view(place.table, own=place.own)),)
    else:
        short = replace(near.table, id="nearest", title="This run and the published figures nearest to it")
        blocks += (Block("table", table=table_view(short, own=near.own)),)
        whole = replace(place.table, title="All published figures", note="")
        blocks += (Block("table", table=table_view(whole, own=place.own), folded=f"{len(whole.rows)} rows"),)
    small = (cells.scale_note((place.table,)),)
    return [SectionView("published", "Beside published figures", small=small, blocks=blocks)]


def _result_blocks(scores: Scores, prefix: str, drawn: Mapping[str, Any]) -> tuple[Block, ...]:
    """Tables in the scorer's order, each under its figure; then the matrices; then what reading ran into.

    The breakdowns share one figure and stand side by side where the first of them is.
    """
    from affectlab.report.figures import SLICES, breakdowns

    slices = breakdowns(scores)
    blocks: list[Block] = []
    for table in scores.tables:
        if table.id in LAST_TABLES or table in slices[1:]:
            continue
        if table in slices:
            blocks += _figure_block(drawn.get(SLICES), anchor(prefix, SLICES), "Breakdowns")
            blocks += _side_by_side([table_view(one, prefix) for one in slices])
        else:
            svg = _svg(drawn.get(table.id), anchor(prefix, table.id, "figure"), table.title)
            blocks.append(Block("table", table=table_view(table, prefix), svg=svg, folded=_same(table, svg)))
    blocks += [_matrix_block(matrix, prefix, drawn.get(matrix.id)) for matrix in scores.matrices]
    blocks += _side_by_side([table_view(table, prefix) for table in scores.tables if table.id in LAST_TABLES])
    return tuple(blocks)


def _side_by_side(tables: list[TableView]) -> list[Block]:
    small = tuple(table for table in tables if len(table.columns) <= _SMALL_COLUMNS)
    wide = [Block("table", table=table) for table in tables if len(table.columns) > _SMALL_COLUMNS]
    return ([Block("tables", tables=small)] if small else []) + wide


def _figure_block(figure: Any | None, name: str, title: str) -> tuple[Block, ...]:
    return () if figure is None else (Block("figure", title=title, svg=_svg(figure, name, title)),)


def _svg(figure: Any | None, name: str, title: str, css: str = "full") -> Markup:
    """Markup of our own making; matplotlib escapes the labels in it."""
    if figure is None:
        return Markup()
    from affectlab.report.svg import page_svg

    return Markup(page_svg(figure, name, title or "Figure", css))  # noqa: S704


def _document_block(table: Table, prefix: str) -> Block:
    from affectlab.report.decision_figures import figure_of
    from affectlab.report.figures import differences

    svg = _svg(figure_of(table) or differences(table), anchor(prefix, table.id, "figure"), table.title)
    return Block("table", table=table_view(table, prefix), svg=svg, folded=_same(table, svg))


def _same(table: Table, svg: str) -> str:
    """A map shows all that its table does: the table is folded away under it."""
    from affectlab.report.decision_figures import MAPS

    return "The same as a table" if svg and table.id.startswith(MAPS) else ""


def _matrix_block(matrix: Matrix, prefix: str, figure: Any | None) -> Block:
    svg = _svg(figure, anchor(prefix, matrix.id, "figure"), matrix.title, "natural")
    return Block("matrix", matrix=matrix_view(matrix, prefix), svg=svg)


def _made(manifest: Mapping[str, Any], paper: str) -> SectionView:
    shown = {key: value for key, value in manifest.items() if key != "command"}
    return SectionView(
        "made",
        "How this was made",
        small=(f"Benchmark: {paper}",) if paper else (),
        command=_commands(manifest),
        details=details(shown),
    )


def _commands(manifest: Mapping[str, Any]) -> str:
    """What was typed, each command once: a resumed run has one per session."""
    typed = [manifest.get("command"), *(session.get("command") for session in _sessions(manifest))]
    return "\n".join(dict.fromkeys(str(command) for command in typed if command))


def _sessions(manifest: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [session for session in manifest.get("sessions") or () if isinstance(session, Mapping)]


def _facts(manifest: Mapping[str, Any]) -> tuple[str, ...]:
    data = manifest.get("data") or {}
    dates = [manifest.get("ended"), manifest.get("started"), manifest.get("created")]
    facts = (
        f"protocol {manifest['protocol']}" if manifest.get("protocol") else "",
        f"{data['items']:,} items" if isinstance(data.get("items"), int) else "",
        next((str(date)[:10] for date in dates if date), ""),
    )
    return tuple(fact for fact in facts if fact)


def _footer(manifest: Mapping[str, Any]) -> str:
    version = manifest.get("package_version")
    return f"Made with affectlab {version}." if version else "Made with affectlab."


def _render(page: Page) -> str:
    style = files("affectlab.report").joinpath("style.css").read_text("utf-8")
    return _templates().get_template("page.html.j2").render(page=page, style=Markup(style))  # noqa: S704


def _breakable(name: str) -> Markup:
    """A name that a browser may break at its joints, as the terminal does."""
    from affectlab.report.layouts import pieces

    return Markup("<wbr>").join(pieces(cells.visible(name)))


def _templates() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("affectlab.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda shown: cells.visible(shown) if type(shown) is str else shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["breakable"] = _breakable
    return made
