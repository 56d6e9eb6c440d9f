"""How ``affectlab vectors`` shows vectors, conditions made of them, and their validation."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from affectlab.cli.common import print_rows

if TYPE_CHECKING:
    from affectlab.report.model import Document
    from affectlab.steering import Applied, EmotionVectors, Validation
    from affectlab.steering.coherence import Coherence


def explained(applied: Applied, plain: Coherence | None) -> str:
    """What exactly a condition does and, where it was measured, what that does to plain text."""
    if plain is None:
        return applied.explain()
    return (
        f"{applied.explain()}\n  Plain text: KL {_with_error(plain.kl, plain.kl_error)}, negative log-likelihood "
        f"{_with_error(plain.nll_rise, plain.nll_rise_error, signed=True)} nats a token"
        f"{': damaged' if plain.damaged else ''}."
    )


def _with_error(value: float, error: float | None, *, signed: bool = False) -> str:
    shown = f"{value:+.3f}" if signed else f"{value:.3f}"
    return shown if error is None else f"{shown} ± {error:.3f}"


def explained_to_dict(applied: Applied, plain: Coherence | None) -> dict[str, Any]:
    """The same for ``--json``."""
    from dataclasses import asdict

    return {
        "condition": str(applied.condition),
        "lines": list(applied.lines),
        "doses": dict(applied.doses),
        **({} if plain is None else {"plain_text": asdict(plain) | {"damaged": plain.damaged}}),
    }


def document(found: Validation, best: tuple[int, ...]) -> Document:
    """A validation as a page."""
    from dataclasses import asdict

    from affectlab.report.model import Document, Section
    from affectlab.steering import scores
    from affectlab.steering.conditions import ranges
    from affectlab.steering.validation_tables import suggested_strengths

    made = scores(found)
    low, high = suggested_strengths(found)
    strength = f"strengths {low:g} to {high:g}" if low is not None and high is not None else "no strength"
    layers = f"layers {ranges(best)}" if best else "no layers"
    return Document(
        title=f"Emotion vectors of {found.name}: does steering steer?",
        summary=f"Suggested: {layers}; {strength} (× median token norm).",
        sections=(Section("", made.notes, made.tables, made.matrices),),
        details=asdict(found.settings),
    )


def validation_to_dict(found: Validation, best: tuple[int, ...]) -> dict[str, Any]:
    """A validation for ``--json``: suggestions, what every control does to each emotion's margin (nats), the tables."""
    from affectlab.steering import scores

    changes = {
        kind: {emotion: row.tolist() for emotion, row in zip(found.emotions, values, strict=True)}
        for kind, values in found.controls.items()
    }
    return {"suggested_layers": list(best), "controls": changes, **scores(found).to_dict()}


def described(found: EmotionVectors) -> dict[str, Any]:
    """What a file holds, for ``--json``."""
    from dataclasses import asdict

    quality = found.quality
    return {
        "model": found.model.to_dict(),
        "emotions": list(found.emotions),
        "layers": list(found.layers),
        "provenance": asdict(found.provenance),
        "norms": {emotion: row.tolist() for emotion, row in zip(found.emotions, found.norms, strict=True)},
        "cosines": {emotion: row.tolist() for emotion, row in zip(found.emotions, found.cosines, strict=True)},
        "token_norms": None if found.token_norms is None else found.token_norms.tolist(),
        "quality": None
        if quality is None
        else {
            "held_out_accuracy": quality.accuracy.tolist(),
            "chance": quality.chance,
            "folds": quality.folds,
            "stability": None
            if quality.stability is None
            else {emotion: row.tolist() for emotion, row in zip(found.emotions, quality.stability, strict=True)},
            "resamples": quality.resamples,
            "warnings": list(quality.warnings),
        },
        "activations": found.activations is not None,
    }


def print_vectors(found: EmotionVectors) -> None:
    """What a file holds, for people; what is weak goes to standard error."""
    print(found)
    made = found.provenance
    if made.stimuli:
        left = "".join(f"; {count} left out ({reason})" for reason, count in made.left_out.items())
        computed = made.dtype or "a number type that is not recorded"
        print(
            f"Stimuli: {made.stimuli}, sha256 {made.stimuli_sha256[:16]}…; states at: {made.token_rule}, in {computed}"
            f"{left}."
        )
    quality = found.quality
    columns = ["layer", "token norm", "held-out accuracy"]
    columns += [f"{emotion}: cosine, stability" for emotion in found.emotions]
    rows = []
    for place, layer in enumerate(found.layers):
        row = [str(layer)]
        row.append("–" if found.token_norms is None else f"{found.token_norms[place]:.0f}")
        row.append("–" if quality is None else f"{quality.accuracy[place]:.2f}")
        for number in range(len(found.emotions)):
            known = None if quality is None else quality.stability
            steady = "–" if known is None else f"{known[number, place]:.2f}"
            row.append(f"{found.cosines[number, place]:.2f}, {steady}")
        rows.append(row)
    print_rows(columns, rows)
    if quality is not None:
        print(
            f"\nAccuracy by guessing: {quality.chance:.2f}. Cosine: to the mean difference. Stability: mean cosine over"
        )
        print(f"{quality.resamples} resamples of the texts.")
        for warning in quality.warnings:
            print(f"Warning: {warning}", file=sys.stderr)
