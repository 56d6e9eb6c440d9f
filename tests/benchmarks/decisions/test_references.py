"""The paper's printed figures against each other, from its tables as data (paper_table.tsv, paper_strengths.tsv)."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from affectlab.benchmarks.decisions.references import MODELS
from affectlab.games import ROLES

HERE = Path(__file__).parent
COLUMNS = ("ndm_cot", "ndm", "nad_cot", "nad")


def rows(name: str) -> list[dict[str, str]]:
    with (HERE / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


PRINTED = {(row["model"], row["column"]): row for row in rows("paper_table.tsv")}
NAMES = tuple(dict.fromkeys(model for model, _ in PRINTED))


def recomputed(model: str, figure: str) -> float:
    return sum(float(PRINTED[model, role][figure]) for role in ROLES) / len(ROLES)


@pytest.mark.parametrize("figure", COLUMNS)
@pytest.mark.parametrize("model", NAMES)
def test_every_printed_mean_is_the_unweighted_mean_of_its_nine_printed_cells(model: str, figure: str) -> None:
    # Cells are rounded to .0005 either way, and so is the printed mean: they may be .001 apart.
    assert recomputed(model, figure) == pytest.approx(float(PRINTED[model, "mean_emotions"][figure]), abs=0.001 + 1e-9)


def test_six_means_can_only_be_right_if_their_cells_were_rounded_the_other_way() -> None:
    off = {
        (model, figure)
        for model in NAMES
        for figure in COLUMNS
        if abs(recomputed(model, figure) - float(PRINTED[model, "mean_emotions"][figure])) > 0.0005 + 1e-9
    }
    assert off == {
        ("Llama-3.2-Instruct-1B", "nad_cot"),
        ("Phi-3.5-instruct-4B", "nad"),
        ("Zamba2-Instruct-2.7B", "nad"),
        ("Phi-3.5-vision-4B", "nad"),
        ("Phi-4-multimodal-4B", "ndm_cot"),
        ("Phi-4-multimodal-4B", "nad"),
    }


def test_the_figures_quoted_in_the_text() -> None:
    assert recomputed("Llama-3.2-Instruct-1B", "ndm_cot") == pytest.approx(0.393, abs=0.0005)
    higher = [m for m in NAMES if PRINTED[m, "mean_emotions"]["ndm_cot"] > PRINTED[m, "mean_emotions"]["ndm"]]
    assert (len(higher), len(NAMES)) == (18, 23)


def test_random_vectors_move_answers_further_than_emotions_in_the_papers_own_table() -> None:
    def further(figure: str) -> int:
        return sum(PRINTED[m, "mean_random"][figure] > PRINTED[m, "mean_emotions"][figure] for m in NAMES)

    assert (further("ndm"), further("ndm_cot")) == (20, 23)


def test_reference_rows_hold_the_printed_means() -> None:
    assert tuple(MODELS) == NAMES
    for name, ways in MODELS.items():
        for values, suffix in zip(ways, ("", "_cot"), strict=True):
            emotion, random = (PRINTED[name, f"mean_{kind}"] for kind in ("emotions", "random"))
            printed = [float(row[figure + suffix]) for row in (emotion, random) for figure in ("ndm", "nad")]
            assert list(values) == printed


def test_the_table_of_strengths_does_not_average_to_the_main_table() -> None:
    """docs/decisions-statistics.md lists these: the paper says that the main table averages over the four strengths."""
    apart = {}
    for row in rows("paper_strengths.tsv"):
        printed = PRINTED.get((row["model"], "mean_emotions"))
        if printed is not None and row["figure"] == "ndm":
            mean = sum(float(row[strength]) for strength in ("0.6", "0.8", "1.0", "1.5")) / 4
            apart[row["model"]] = mean - float(printed["ndm"])
    assert len(apart) == 19
    assert sum(abs(one) > 0.002 for one in apart.values()) == 13
    assert max(apart, key=lambda name: abs(apart[name])) == "Llama-3.2-Instruct-1B"
    assert apart["Llama-3.2-Instruct-1B"] == pytest.approx(0.0135, abs=0.0001)
