from __future__ import annotations

import re
from pathlib import Path

from tests.benchmarks.decisions.worlds import table, world

from affectlab.audits.drift import Drifted
from affectlab.benchmarks.decisions.curves import curves
from affectlab.benchmarks.decisions.heatmap import heatmap, heatmap_table, shift_table
from affectlab.benchmarks.decisions.measures import choices_of, drifts_of
from affectlab.benchmarks.decisions.tables import strength_table
from affectlab.metrics.scores import Table
from affectlab.report.decision_figures import figure_of, shift_map, strength_curves, write_figures
from affectlab.report.svg import page_svg, print_svg
from affectlab.stats.bootstrap import Interval

FEW = Interval(replicates=20)


def moving(role: str, number: int, condition: str, repeat: int) -> float:
    return float(condition.startswith("joy"))


def test_the_map_shows_changes_stars_and_what_is_undefined() -> None:
    runs = {
        "mover": choices_of(world(moving, ["joy@1.0", "anger@1.0"], ["stag_hunt"])),
        "mute": choices_of(
            table({"neutral": [("stag_hunt", "i", (0, 1), 1.0)], "joy@1.0": [("stag_hunt", "i", (0, 1), None)]})
        ),
    }
    text = print_svg(shift_map(heatmap_table(heatmap(runs, "1"), "1"), "A title"))
    for shown in ("+100.0**", "n/a", "not asked", "mover", "mute", "stag hunt", "A title", "q &lt; .05"):
        assert shown in text


def test_curves_have_a_line_each_and_none_without_strengths(tmp_path: Path) -> None:
    conditions = ["joy@0.5", "joy@1.0", "random@0.5:seed=0", "random@1.0:seed=0"]
    choices = choices_of(world(moving, conditions, ["stag_hunt"]))
    lines = curves(drifts_of(choices), FEW)
    text = print_svg(strength_curves(strength_table(lines), "model"))
    assert "all emotions" in text
    assert "random" in text
    single = curves(drifts_of(choices_of(world(moving, ["joy@1.0"], ["stag_hunt"]))), FEW)
    assert strength_curves(strength_table(single), "x") is None
    maps = {"1": heatmap({"model": choices}, "1")}
    found = Drifted(("model",), (), shift_table(list(maps.values())), maps, {"a/b": lines}, ())
    names = sorted(path.name for path in write_figures(found, tmp_path / "figures"))
    assert names == ["shifts-1.svg", "strength-a_b.svg"]


def test_cells_of_a_map_are_coloured_by_what_they_say() -> None:
    rows = (("stag hunt", "+40.0**", "−20.0", "0.0"), ("trust", "not asked", "n/a", "+10.0"))
    text = page_svg(shift_map(Table("shifts_1", "Shifts", ("role", "joy", "fear", "anger"), rows)), "m", "Map", "full")
    filled = re.findall(r"fill: (var\(--series-\d\)); fill-opacity: ([\d.]+)", text)
    # The largest change, 40 points, has opacity .75; the others their share of it.
    assert [(colour, float(share)) for colour, share in filled if float(share)] == [
        ("var(--series-1)", 0.75),
        ("var(--series-2)", 0.375),
        ("var(--series-1)", 0.1875),
    ]
    for shown in ("+40.0**", "−20.0", "not asked", "n/a", "trust"):
        assert shown in text
    assert figure_of(Table("other", "Other", ("role", "joy"), (("a", "+40.0"),))) is None
    assert shift_map(Table("shifts_1", "Shifts", ("role", "joy"), ())) is None
    assert figure_of(Table("shifts_of_feelings", "No map of roles", ("label", "joy"), (("a", 0.1),))) is None


def test_what_stands_under_a_map_of_one_emotion_is_no_wider_than_it() -> None:
    figure = shift_map(Table("shifts_1", "Shifts", ("role", "joy"), (("hunt", "+40.0"),)))
    assert figure is not None
    figure.canvas.draw()
    label = figure.axes[0].xaxis.label.get_window_extent()
    # Names of roles take up to a third of the width, and a browser's letters are wider than matplotlib's.
    assert label.width < 0.55 * figure.bbox.width
