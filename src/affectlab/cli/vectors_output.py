"""How ``affectlab vectors`` shows and writes vectors, conditions made of them, and their validation."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from affectlab.cli.common import print_rows
from affectlab.errors import AffectlabError, WorldError
from affectlab.replacing import replacing

if TYPE_CHECKING:
    from affectlab.report.model import Document
    from affectlab.steering import Applied, EmotionVectors, Subject, Validation
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


def made_of(found: Validation, vectors: EmotionVectors, subject: Subject, file: Path) -> dict[str, Any]:
    """How a validation was made: command, model, vectors, settings and versions."""
    from dataclasses import asdict
    from importlib.metadata import version

    from affectlab.runs.manifest import command_line, host, now

    model = {name: value for name, value in subject.identity.to_dict().items() if name != "layer_paths"}
    return {
        "command": command_line(),
        "created": now(),
        "model": {**model, "dtype": subject.dtype},
        "vectors": {"file": file.name, "sha256": vectors.sha256, **asdict(vectors.provenance)},
        "validation": asdict(found.settings),
        "versions": {name: version(name) for name in ("affectlab", "torch", "transformers", "numpy")},
        "host": host(),
    }


def document(found: Validation, best: tuple[int, ...], made: Mapping[str, Any]) -> Document:
    """A validation as a page; ``made`` is what :func:`made_of` says of it."""
    from affectlab.report.model import Document, Section
    from affectlab.steering import scores
    from affectlab.steering.conditions import ranges
    from affectlab.steering.validation_tables import suggested_span

    told = scores(found)
    span = suggested_span(found)
    strength = f"strength {span}" if span else "no strength"
    layers = f"layers {ranges(best)}" if best else "no layers"
    return Document(
        title=f"Emotion vectors of {found.name}: does steering steer?",
        summary=f"Suggested: {layers}; {strength} (× median token norm).",
        sections=(Section("", told.notes, told.tables, told.matrices),),
        details=made,
    )


def validation_to_dict(found: Validation, best: tuple[int, ...]) -> dict[str, Any]:
    """A validation for ``--json``: suggestions, what every control does to each emotion's margin (nats), the tables."""
    from affectlab.steering import scores

    changes = {
        kind: {emotion: row.tolist() for emotion, row in zip(found.emotions, values, strict=True)}
        for kind, values in found.controls.items()
    }
    return {"suggested_layers": list(best), "controls": changes, **scores(found).to_dict()}


def write_each(writers: Sequence[Callable[[], str]], *, silent: bool) -> None:
    """Write each, say what was written, and raise what failed only when all were tried."""
    failed: list[AffectlabError] = []
    for writer in writers:
        try:
            said = writer()
        except AffectlabError as error:
            failed.append(error)
        else:
            if not silent:
                print(said)
    if failed:
        raise type(failed[0])("\n".join(map(str, failed)))


def write_suggestion(vectors: EmotionVectors, found: Validation, best: tuple[int, ...], file: Path) -> str:
    """Put the suggested layers into the vectors' file, and say so; what the other writers do too."""
    from affectlab import steering
    from affectlab.steering.conditions import ranges

    if not best:
        return f"No layer can be suggested; {file} is left as it was."
    steering.save(vectors.suggesting(best), file)
    others = "" if len(best) < len(found.sweep_layers) else " No others were swept, so they were not chosen among any."
    return f"Layers {ranges(best)} are in {file} now, where layers=best finds them.{others}"


def write_page(page: Document, path: Path) -> str:
    """Write a validation's page."""
    from affectlab.report.html import document_html

    with _instead_of(path) as part:
        part.write_text(document_html(page), encoding="utf-8")
    return f"Page: {path}"


def write_figure(found: Validation, path: Path) -> str:
    """Draw a validation's heatmap."""
    from affectlab import steering

    with _instead_of(path) as part:
        steering.heatmap(found).savefig(part, format=path.suffix.lower().removeprefix("."))
    return f"Figure: {path}"


@contextmanager
def _instead_of(path: Path) -> Iterator[Path]:
    """A file to write that takes the place of ``path`` once it is whole.

    Raises:
        WorldError: When the disk fails.
    """
    try:
        with replacing(path) as part:
            yield part
    except OSError as error:
        raise WorldError(
            f"{path} could not be written ({error.strerror or error}). What was measured is printed in full."
        ) from error


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
