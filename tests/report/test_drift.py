from __future__ import annotations

import re

from tests.benchmarks.decisions.worlds import world

from affectlab.audits.drift import Drifted
from affectlab.benchmarks.decisions.curves import curves
from affectlab.benchmarks.decisions.heatmap import heatmap, heatmap_table, shift_table
from affectlab.benchmarks.decisions.measures import choices_of, drifts_of
from affectlab.report.drift import document_of
from affectlab.report.html import document_html
from affectlab.stats.bootstrap import Interval

FEW = Interval(replicates=20)


def found(conditions: list[str], runs: tuple[str, ...]) -> Drifted:
    """Runs in which joy moves every answer by the whole range, and nothing else moves any."""
    choices = choices_of(
        world(lambda role, number, condition, repeat: float(condition.startswith("joy")), conditions, ["stag_hunt"])
    )
    maps = {"1": heatmap(dict.fromkeys(runs, choices), "1")}
    return Drifted(
        runs,
        tuple(heatmap_table(one, dose) for dose, one in maps.items()),
        shift_table(list(maps.values())),
        maps,
        {name: curves(drifts_of(choices), FEW) for name in runs},
        ("A note.",),
        tuple({"run": name, "command": f"affectlab decide --out {name}"} for name in runs),
    )


def test_the_page_holds_map_curves_and_how_it_was_made() -> None:
    vectors = ["joy@0.5", "fear@0.5", "joy@1.0", "fear@1.0", "random@0.5:seed=0", "random@1.0:seed=0"]
    document = document_of(found(vectors, ("one", "two")), FEW, "affectlab drift runs/one runs/two")
    assert document.summary == "2 runs: one; two."
    tables = {table.id: table for section in document.sections for table in section.tables}
    assert list(tables) == ["shifts_1", "strengths_1", "strengths_2"]
    # Joy moves all of it, fear nothing: half on average, at both strengths.
    lines = [
        (row[0], row[1], *(getattr(cell, "value", cell) for cell in row[2:])) for row in tables["strengths_1"].rows
    ]
    assert lines[0] == ("all emotions", "NDM", 0.5, 0.5)
    assert lines[-1] == ("random", "NDM", 0.0, 0.0)
    assert {line[0] for line in lines} == {"all emotions", "random"}
    page = document_html(document)
    assert page.count("<svg") == 3
    assert "By strength: two" in page
    made = page[page.index("How this was made") :]
    made = made[made.index("<h3>") :]
    for shown in ("affectlab drift runs/one runs/two", str(FEW), "affectlab decide --out two"):
        assert shown in made
    # Names of runs are values, as they are written; headings alone begin with a capital.
    assert re.search(r">Run</th><td>one</td>", made)


def test_one_strength_has_no_curves() -> None:
    document = document_of(found(["joy@1.0"], ("one",)), FEW, "affectlab drift one")
    assert [section.title for section in document.sections] == ["Drift"]
    assert document.summary == "1 run: one."
