"""What a validation says, as tables, matrices and a figure that reports show."""

from __future__ import annotations

from typing import Any

import numpy as np

from affectlab.metrics.scores import Cell, Matrix, Scores, Table
from affectlab.steering.coherence import MOST_KL, MOST_NLL_RISE
from affectlab.steering.contrast import Doubles
from affectlab.steering.selfreport import margins, shares
from affectlab.steering.validation import CONTROLS, Validation

_CONTROL_NAMES = {"random": "isotropic, same norm", "kl-random": "isotropic, same KL", "permuted": "label-permuted"}
_P = {"random": "p norm", "kl-random": "p KL", "permuted": "p permuted"}
_IN_NATS = (
    "margin, neutral",
    "margin, steered",
    "change of margin",
    "mean change of margin",
    "KL",
    "NLL rise",
    "s.e. of change",
    "s.e. of KL",
    "s.e. of NLL rise",
    "mean of controls",
    "s.d. of controls",
    "largest control",
)
_NATS = "Log-probabilities are natural logarithms, summed over an option's tokens, averaged over the ten questions."
_PLAIN = "KL and NLL rise (negative log-likelihood): nats a token of plain text, against the model as it is."


def scores(found: Validation) -> Scores:
    """Every table and matrix of a validation; no headline figure."""
    tables = [emotions_table(found)]
    tables += [controls_table(found)] if found.controls else []
    tables += [text_table(found), strengths_table(found)]
    matrices = [leakage(found)]
    if found.sweep_layers:
        tables += [positive_layers(found), layers_table(found)]
        matrices.append(sweep_matrix(found))
    return Scores(headline=(), tables=tuple(tables), matrices=tuple(matrices), notes=tuple(notes(found)))


def compared(found: Validation) -> Doubles:
    """Answers ``[emotion, question, option]`` at the strength at which emotions are compared with controls."""
    block: Doubles = found.block[_compared_place(found)]
    return block


def _compared_place(found: Validation) -> int:
    return found.settings.strengths.index(found.settings.compared)


def own_changes(found: Validation, block: Doubles) -> Doubles:
    """Change of each emotion's own margin ``[emotion, question]`` under its vector."""
    return np.stack([found.changes(block[number], number) for number in range(len(found.emotions))])


def leakage_values(found: Validation, block: Doubles) -> Doubles:
    """Change of each option's log share ``[emotion, option]`` under each vector, of ``[emotion, question, option]``."""
    change: Doubles = (shares(block) - shares(found.neutral)).mean(axis=1)
    return change


def own_rises_most(found: Validation, block: Doubles) -> list[bool]:
    """Whether each emotion's own label rises most of all options under its vector."""
    return [bool(row.argmax() == place) for place, row in enumerate(leakage_values(found, block))]


def p_value(value: float, controls: Doubles) -> float:
    """One-sided permutation p-value: how often a control does as much, the value itself counted in."""
    return float((1 + (controls >= value).sum()) / (1 + len(controls)))


def standard_error(values: Doubles) -> float | None:
    """Standard error of the mean of ``[question]``; ``None`` for one question."""
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else None


def emotions_table(found: Validation) -> Table:
    """Margins of each emotion at the compared strength, with p-values against the controls; last, all together."""
    block = compared(found)
    kinds = [kind for kind in CONTROLS if kind in found.controls]
    rises = own_rises_most(found, block)
    changes = own_changes(found, block)
    rows: list[tuple[Cell, ...]] = []
    for number, emotion in enumerate(found.emotions):
        before, change = float(margins(found.neutral, number).mean()), float(changes[number].mean())
        rows.append(
            (
                emotion,
                before,
                before + change,
                change,
                standard_error(changes[number]),
                "yes" if rises[number] else "no",
                *(p_value(change, found.controls[kind][number]) for kind in kinds),
            )
        )
    together = changes.mean(axis=0)
    every = [p_value(float(together.mean()), found.controls[kind].mean(axis=0)) for kind in kinds]
    own = f"{sum(rises)} of {len(rises)}"
    rows.append(("all", None, None, float(together.mean()), standard_error(together), own, *every))
    note = f"{_NATS} Margin: the emotion's label against the strongest other. s.e.: standard error over the questions."
    if kinds:
        count = found.settings.controls
        which = ", ".join(f"{_CONTROL_NAMES[kind]} ({_P[kind]})" for kind in kinds)
        note += (
            f" p: share of {count} control vectors that change it as much, not corrected for the number of emotions; "
            f"at least {1 / (count + 1):.3g}. Controls: {which}; "
            "each emotion has its own, and all are held against their means over emotions."
        )
    return Table(
        id="self_report",
        title=f"Self-report, layers {found.settings.layers}, {found.settings.compared:g} × median token norm",
        columns=(
            "emotion",
            "margin, neutral",
            "margin, steered",
            "change of margin",
            "s.e. of change",
            "own label rises most",
            *(_P[kind] for kind in kinds),
        ),
        rows=tuple(rows),
        note=note,
        units={**dict.fromkeys(_IN_NATS, "number"), **dict.fromkeys(_P.values(), "p")},
    )


def controls_table(found: Validation) -> Table:
    """How far controls change each emotion's margin, which p-values alone do not tell."""
    own = own_changes(found, compared(found)).mean(axis=1)
    rows: list[tuple[Cell, ...]] = []
    for kind in (kind for kind in CONTROLS if kind in found.controls):
        values = found.controls[kind]
        for emotion, change, each in zip(
            (*found.emotions, "all"), (*own, own.mean()), (*values, values.mean(axis=0)), strict=True
        ):
            spread = float(each.std(ddof=1)) if len(each) > 1 else None
            rows.append((_CONTROL_NAMES[kind], emotion, float(change), float(each.mean()), spread, float(each.max())))
    return Table(
        id="controls",
        title=f"{found.settings.controls} controls of each kind beside the emotions' vectors",
        columns=(
            "controls",
            "emotion",
            "change of margin",
            "mean of controls",
            "s.d. of controls",
            "largest control",
        ),
        rows=tuple(rows),
        note="Changes of the emotion's margin from neutral, in nats; --json holds that of every control.",
        units=dict.fromkeys(_IN_NATS, "number"),
    )


def text_table(found: Validation) -> Table:
    """What each emotion's vector does to plain text at the compared strength."""
    return Table(
        id="plain_text",
        title=f"Plain text, layers {found.settings.layers}, {found.settings.compared:g} × median token norm",
        columns=("emotion", "plain text", "KL", "s.e. of KL", "NLL rise", "s.e. of NLL rise"),
        rows=tuple(
            (
                emotion,
                "damaged" if one.damaged else "intact",
                one.kl,
                one.kl_error,
                one.nll_rise,
                one.nll_rise_error,
            )
            for emotion, one in zip(found.emotions, found.text[_compared_place(found)], strict=True)
        ),
        note=(
            f"{_PLAIN} s.e.: standard error over the texts. Damaged: KL above {MOST_KL:g} or NLL rise above "
            f"{MOST_NLL_RISE:g}."
        ),
        units=dict.fromkeys(_IN_NATS, "number"),
    )


def strengths_table(found: Validation) -> Table:
    """What each strength does: labels that rise most, change of margin, and plain text."""
    rows: list[tuple[Cell, ...]] = []
    for strength, block, text in zip(found.settings.strengths, found.block, found.text, strict=True):
        changes = own_changes(found, block).mean(axis=0)
        rows.append(
            (
                f"{strength:g}",
                f"{sum(own_rises_most(found, block))} of {len(found.emotions)}",
                float(changes.mean()),
                standard_error(changes),
                float(np.mean([one.kl for one in text])),
                float(np.mean([one.nll_rise for one in text])),
                sum(one.damaged for one in text),
            )
        )
    return Table(
        id="by_strength",
        title=f"Strength, layers {found.settings.layers}",
        columns=(
            "strength (× median token norm)",
            "own label rises most",
            "mean change of margin",
            "s.e. of change",
            "KL",
            "NLL rise",
            "damaged",
        ),
        rows=tuple(rows),
        note=(
            f"Suggested: {suggested_span(found) or 'none'}. A strength is suggested where most emotions' own label "
            f"rises most and no vector damages plain text. {_PLAIN} Both are means over the emotions."
        ),
        units=dict.fromkeys(_IN_NATS, "number"),
    )


def suggested_span(found: Validation) -> str:
    """Suggested strengths for people (``"0.025 to 0.1"``); empty where there are none."""
    low, high = suggested_strengths(found)
    if low is None or high is None:
        return ""
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


def suggested_strengths(found: Validation) -> tuple[float | None, float | None]:
    """Least and greatest strength at which most own labels rise most and no plain text is damaged."""
    good = [
        strength
        for strength, block, text in zip(found.settings.strengths, found.block, found.text, strict=True)
        if 2 * sum(own_rises_most(found, block)) > len(found.emotions) and not any(one.damaged for one in text)
    ]
    return (min(good), max(good)) if good else (None, None)


def sweep_changes(found: Validation) -> Doubles:
    """Mean change of the own margin ``[emotion, layer, strength]`` when one layer is steered."""
    return np.stack([found.change(found.sweep[number], number) for number in range(len(found.emotions))])


BLOCK = 3
"""Layers that are suggested together: what neighbours add sums up, and more of them damage text at the strength that a
few take unharmed."""


def suggested_layers(found: Validation) -> tuple[int, ...]:
    """The :data:`BLOCK` neighbouring layers that, one at a time, change the own margin most.

    The mean over emotions and strengths counts. Fewer where the sweep holds no three neighbours; none when they lower
    the margin.
    """
    by_layer = dict(zip(found.sweep_layers, sweep_changes(found).mean(axis=(0, 2)), strict=True))
    blocks = [(float(np.mean([by_layer[layer] for layer in block])), block) for block in _neighbours(tuple(by_layer))]
    change, best = max(blocks, default=(0.0, ()))
    return best if change > 0 else ()


def _neighbours(layers: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Runs of neighbouring layers, as long as there are any up to :data:`BLOCK`."""
    for width in range(BLOCK, 0, -1):
        runs = [tuple(range(first, first + width)) for first in layers]
        if whole := [run for run in runs if set(run) <= set(layers)]:
            return whole
    return []


def positive_layers(found: Validation) -> Table:
    """Share of layers with a positive margin when one layer is steered: the paper's table."""
    total = len(found.sweep_layers)
    rows: list[tuple[Cell, ...]] = []
    for number, emotion in enumerate(found.emotions):
        positive = (margins(found.sweep[number], number).mean(axis=-1) > 0).sum(axis=0)
        rows.append((emotion, *(f"{count}/{total}" for count in positive)))
    return Table(
        id="positive_margin",
        title="Layers with a positive margin, one layer steered at a time",
        columns=("emotion", *(f"α {strength:g}" for strength in found.settings.sweep_strengths)),
        rows=tuple(rows),
        note=(
            f"α in {found.settings.sweep_scale} strength. A margin is positive when, on average over the questions, "
            "the emotion's label is likelier than the strongest other (Decisions paper, section Steering Validation)."
        ),
    )


def layers_table(found: Validation) -> Table:
    """Mean change of margin at each layer, over strengths."""
    changes = sweep_changes(found).mean(axis=2)
    best = suggested_layers(found)
    others = " No others were swept." if best and len(best) == len(found.sweep_layers) else ""
    return Table(
        id="by_layer",
        title="Change of the own margin, one layer steered at a time",
        columns=("layer", *found.emotions, "suggested"),
        rows=tuple(
            (str(layer), *(float(value) for value in changes[:, place]), "yes" if layer in best else "")
            for place, layer in enumerate(found.sweep_layers)
        ),
        note=f"Nats, mean over strengths. Suggested: the {BLOCK} neighbours that do most, over all emotions.{others}",
        units=dict.fromkeys(found.emotions, "number"),
    )


def leakage(found: Validation) -> Matrix:
    """Which labels rise under which emotion's vector."""
    return Matrix(
        id="leakage",
        title=f"Change of each label's log share under each vector, {found.settings.compared:g} × median token norm",
        row_title="steered towards",
        column_title="label",
        rows=found.emotions,
        columns=found.options,
        values=tuple(tuple(map(float, row)) for row in leakage_values(found, compared(found))),
        note="Shares among the options. A vector that does what its name says has its row's maximum on the diagonal.",
    )


def sweep_matrix(found: Validation) -> Matrix:
    """Mean change of margin over emotions at each layer and strength."""
    return Matrix(
        id="sweep",
        title="Mean change of margin, one layer steered at a time",
        row_title="layer",
        column_title=f"strength ({found.settings.sweep_scale})",
        rows=tuple(map(str, found.sweep_layers)),
        columns=tuple(f"{strength:g}" for strength in found.settings.sweep_strengths),
        values=tuple(tuple(map(float, row)) for row in sweep_changes(found).mean(axis=0)),
    )


def notes(found: Validation) -> list[str]:
    """What must be known to read the figures right."""
    said = []
    if missing := [_CONTROL_NAMES[kind] for kind in CONTROLS if kind not in found.controls]:
        said.append(f"Not compared with controls: {', '.join(missing)}.")
    if len(set(found.option_tokens)) > 1:
        lengths = ", ".join(
            f"{option} {count}" for option, count in zip(found.options, found.option_tokens, strict=True)
        )
        said.append(f"Options differ in their number of tokens ({lengths}), so margins do; changes of margin compare.")
    return said


def heatmap(found: Validation) -> Any:
    """Change of margin over layers and strengths, a panel for each emotion, as a matplotlib figure."""
    from matplotlib.figure import Figure

    changes = sweep_changes(found)
    if not changes.size:
        raise ValueError("no layer was swept, so there is nothing to draw")
    limit = max(float(np.abs(changes).max()), 1e-9)
    figure = Figure(
        figsize=(2.1 * len(found.emotions), 0.9 + 0.16 * max(len(found.sweep_layers), 8)), layout="constrained"
    )
    panels = figure.subplots(1, len(found.emotions), sharey=True, squeeze=False)[0]
    for panel, emotion, values in zip(panels, found.emotions, changes, strict=True):
        image = panel.imshow(values, aspect="auto", origin="lower", cmap="RdBu_r", vmin=-limit, vmax=limit)
        panel.set_title(emotion)
        panel.set_xticks(range(values.shape[1]), [f"{one:g}" for one in found.settings.sweep_strengths], rotation=90)
        panel.set_xlabel(f"α ({found.settings.sweep_scale})")
    panels[0].set_yticks(range(len(found.sweep_layers)), list(map(str, found.sweep_layers)))
    panels[0].set_ylabel("layer")
    figure.colorbar(image, ax=list(panels), label="change of margin (nats)")
    return figure
