"""``affectlab vectors``: extract emotion vectors, look at them, prove them, hand them to other tools."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from affectlab.cli.common import AsJson, pairs, print_json, print_rows
from affectlab.errors import UserError

if TYPE_CHECKING:
    from affectlab.models import ModelSettings
    from affectlab.report.model import Document
    from affectlab.steering import EmotionVectors, Validation

VectorFile: TypeAlias = Annotated[Path, typer.Argument(help="A file that `affectlab vectors extract` wrote.")]
Model: TypeAlias = Annotated[str, typer.Option(help="Local model: smollm2, gguf:PATH, hf:ORG/NAME or a folder.")]
Device: TypeAlias = Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1 …")]
Dtype: TypeAlias = Annotated[str, typer.Option(help="float32, bfloat16 or float16. Report float32 figures.")]
Threads: TypeAlias = Annotated[int | None, typer.Option(help="CPU threads.", min=1)]
BatchTokens: TypeAlias = Annotated[int, typer.Option(help="Token budget of a pass.", min=1)]
Seed: TypeAlias = Annotated[int, typer.Option(help="Seed of everything drawn.", min=0)]


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    group = typer.Typer(help="Emotion vectors: extract, show, validate, export.", no_args_is_help=True)
    group.command("extract", help="Extract a vector for every emotion and layer of a local model.")(extract)
    group.command("show", help="What a vector file holds; with --condition, what exactly a condition does.")(show)
    group.command("validate", help="Put the self-report benchmark to a steered model, beside control vectors.")(
        validate
    )
    group.command("export", help="Write one emotion's vectors as a GGUF control vector (llama.cpp, repeng).")(export)
    app.add_typer(group, name="vectors")


def extract(
    model: Model,
    out: Annotated[Path, typer.Option(help="File to write (.safetensors).")],
    stimuli: Annotated[
        str | None, typer.Option(help="Texts with emotions (.jsonl, .json, .csv, .tsv). Default: the bundled 180.")
    ] = None,
    field_map: Annotated[
        list[str] | None,
        typer.Option("--map", help="Our column (text, emotion, group) = the file's.", metavar="FIELD=COLUMN"),
    ] = None,
    emotions: Annotated[
        str | None, typer.Option(help="Labels to take, joined by commas. Default: the six basic emotions.")
    ] = None,
    method: Annotated[str, typer.Option(help="pca, mean_difference or pca_literal.")] = "pca",
    states: Annotated[
        str,
        typer.Option(help="Where states are read: last (token), mean (over tokens), template (a question's answer)."),
    ] = "last",
    activations: Annotated[
        bool, typer.Option(help="Keep hidden states in the file, for label-permuted controls.")
    ] = True,
    seed: Seed = 0,
    device: Device = "auto",
    dtype: Dtype = "float32",
    threads: Threads = None,
    batch_tokens: BatchTokens = 8192,
    as_json: AsJson = False,
) -> None:
    """Extract, judge, write, and say what came out."""
    from affectlab import steering
    from affectlab.models.subject import open_subject
    from affectlab.steering.contrast import METHODS
    from affectlab.steering.subject import TOKEN_RULES

    if method not in METHODS:
        raise UserError(f"--method {method!r}: expected one of {', '.join(METHODS)}.")
    if states not in TOKEN_RULES:
        raise UserError(f"--states {states!r}: expected one of {', '.join(TOKEN_RULES)}.")
    _check_place(out)
    wanted = steering.EMOTIONS if emotions is None else tuple(filter(None, map(str.strip, emotions.split(","))))
    texts = steering.load_stimuli(stimuli, pairs(field_map or [], "--map"), wanted)
    subject = open_subject(model, _settings(device, dtype, threads, batch_tokens))
    found = steering.extract(
        subject,
        texts,
        method,
        states,
        seed=seed,
        keep_activations=activations,
    )
    steering.save(found, out)
    if as_json:
        print_json({"file": str(out), **_described(found)})
    else:
        _print_vectors(found)
        print(f"\nVectors: {out}\nNext: affectlab vectors validate {out} --model {model}")


def show(
    file: VectorFile,
    condition: Annotated[
        list[str] | None, typer.Option(help="A condition to explain, as for `affectlab run --condition`. Repeatable.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Describe a file, or conditions made from it."""
    from affectlab import steering

    found = steering.load(file)
    applier = steering.Applier(found)
    applied = [applier(text) for text in condition or []]
    if as_json:
        explained = [{"condition": str(one.condition), "lines": list(one.lines)} for one in applied]
        print_json({"file": str(file), **_described(found), **({"conditions": explained} if applied else {})})
    elif applied:
        print("\n".join(one.explain() for one in applied))
    else:
        _print_vectors(found)


def validate(
    file: VectorFile,
    model: Model,
    layers: Annotated[
        str, typer.Option(help="Layers steered together: early, middle, late, all, or 10-19.")
    ] = "middle",
    strengths: Annotated[
        str, typer.Option(help="Strengths there, × the median token norm.")
    ] = "0.025,0.05,0.1,0.2,0.4",
    compared: Annotated[float, typer.Option(help="The one at which controls are compared.")] = 0.025,
    controls: Annotated[int, typer.Option(help="Control vectors of each kind; 0 for none.", min=0)] = 19,
    sweep_layers: Annotated[str, typer.Option(help="Layers steered one at a time: all, none, or 0-29.")] = "all",
    sweep_strengths: Annotated[
        str, typer.Option(help="Strengths there; the paper's by default.")
    ] = "1,4,8,10,15,20,40,80",
    sweep_scale: Annotated[str, typer.Option(help="What they count in: unit, raw, relative.")] = "unit",
    write: Annotated[
        bool, typer.Option("--write", help="Write the suggested layers into the file, for layers=best.")
    ] = False,
    html: Annotated[Path | None, typer.Option(help="Also write a page.")] = None,
    figure: Annotated[Path | None, typer.Option(help="Also write the heatmap (.svg, .png, .pdf).")] = None,
    seed: Seed = 0,
    device: Device = "auto",
    dtype: Dtype = "float32",
    threads: Threads = None,
    batch_tokens: BatchTokens = 8192,
    as_json: AsJson = False,
) -> None:
    """Validate, print the tables, and write what was asked for."""
    from affectlab import steering
    from affectlab.models.subject import open_subject
    from affectlab.report.html import document_html
    from affectlab.report.terminal import print_document
    from affectlab.runs.folder import writing
    from affectlab.steering.validation_tables import suggested_layers

    swept = _swept(sweep_layers)
    if figure is not None and swept == ():
        raise UserError("--figure draws the sweep over single layers, which --sweep-layers none leaves out.")
    for path in (figure, html):
        _check_place(path)
    if sweep_scale not in ("unit", "raw", "relative"):
        raise UserError(f"--sweep-scale {sweep_scale!r}: expected unit, raw or relative.")
    settings = steering.Settings(
        sweep_strengths=_numbers("--sweep-strengths", sweep_strengths),
        sweep_scale=sweep_scale,  # type: ignore[arg-type]
        sweep_layers=swept,
        layers=layers,
        strengths=_numbers("--strengths", strengths),
        compared=compared,
        controls=controls,
        seed=seed,
    )
    vectors = steering.load(file)
    subject = open_subject(model, _settings(device, dtype, threads, batch_tokens))
    vectors.check(subject.identity)
    with _progress("validate") as told:
        found = steering.validate(subject, vectors, settings, told)
    best = suggested_layers(found)
    if write:
        _write_suggestion(vectors, best, file)
    if figure is not None:
        with writing(figure):
            steering.heatmap(found).savefig(figure)
    document = _document(found, best)
    if html is not None:
        with writing(html):
            html.write_text(document_html(document), encoding="utf-8")
    if as_json:
        print_json({"file": str(file), "suggested_layers": list(best), **steering.scores(found).to_dict()})
    else:
        print_document(document)


def _check_place(path: Path | None) -> None:
    """Refuse a place that nothing can be written to before anything is computed."""
    if path is not None and (path.is_dir() or not path.name):
        raise UserError(f"{path} is a folder; name a file.")
    if path is not None and not path.parent.is_dir():
        raise UserError(f"{path} cannot be written: there is no folder {path.parent}. Make it first.")


def export(
    file: VectorFile,
    emotion: Annotated[str, typer.Option(help="Which emotion.")],
    out: Annotated[Path, typer.Option(help="File to write (.gguf).")],
    scaled: Annotated[bool, typer.Option(help="Keep the norm of the mean difference; else norm 1.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write a GGUF control vector."""
    from affectlab import steering
    from affectlab.steering.stimuli import emotion_id

    found = steering.load(file)
    count = steering.export_gguf(found, emotion_id(emotion), out, scaled=scaled)
    left_out = len(found.layers) - count
    if as_json:
        print_json({"file": str(out), "emotion": emotion_id(emotion), "layers": count, "left_out": left_out})
    else:
        print(f"{count} layers of {emotion_id(emotion)}: {out}")
        if left_out:
            print("Block 0 is not in it: llama.cpp takes no control vector there.")


def _settings(device: str, dtype: str, threads: int | None, batch_tokens: int) -> ModelSettings:
    from affectlab.models import ModelSettings

    return ModelSettings(device=device, dtype=dtype, threads=threads, batch_tokens=batch_tokens)  # type: ignore[arg-type]


def _numbers(option: str, text: str) -> tuple[float, ...]:
    try:
        return tuple(float(piece) for piece in text.split(","))
    except ValueError:
        raise UserError(f"{option} {text!r}: expected numbers joined by commas, for example 0.05,0.1.") from None


def _swept(text: str) -> tuple[int, ...] | None:
    """Layers of the sweep; ``None`` for all."""
    from affectlab.steering.conditions import layer_numbers, layer_text

    if text in ("all", "none"):
        return None if text == "all" else ()
    if not text[:1].isdecimal():
        raise UserError(f"--sweep-layers {text!r}: expected all, none, or numbers like 0-29 or 3,5,7.")
    return tuple(sorted(layer_numbers(layer_text(f"--sweep-layers {text}", text))))


@contextmanager
def _progress(title: str) -> Iterator[Callable[[str, int, int], None]]:
    """A bar on standard error that says what is being done; nothing where that is not a terminal."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(file=sys.stderr)
    with Progress(console=console, disable=not console.is_terminal) as bar:
        tasks: dict[str, Any] = {}

        def told(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(f"{title}: {what}", total=total)
            bar.update(tasks[what], completed=done)

        yield told


def _write_suggestion(vectors: EmotionVectors, best: tuple[int, ...], file: Path) -> None:
    from affectlab import steering

    if best:
        steering.save(vectors.suggesting(best), file)
    else:
        print("No layer can be suggested; the file is left as it was.", file=sys.stderr)


def _document(found: Validation, best: tuple[int, ...]) -> Document:
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


def _described(found: EmotionVectors) -> dict[str, Any]:
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
            "stability": {
                emotion: row.tolist() for emotion, row in zip(found.emotions, quality.stability, strict=True)
            },
            "resamples": quality.resamples,
            "warnings": list(quality.warnings),
        },
        "activations": found.activations is not None,
    }


def _print_vectors(found: EmotionVectors) -> None:
    print(found)
    made = found.provenance
    if made.stimuli:
        left = "".join(f"; {count} left out ({reason})" for reason, count in made.left_out.items())
        print(f"Stimuli: {made.stimuli}, sha256 {made.stimuli_sha256[:16]}…; states at: {made.token_rule}{left}.")
    quality = found.quality
    columns = ["layer", "token norm", "held-out accuracy"]
    columns += [f"{emotion}: cosine, stability" for emotion in found.emotions]
    rows = []
    for place, layer in enumerate(found.layers):
        row = [str(layer)]
        row.append("–" if found.token_norms is None else f"{found.token_norms[place]:.0f}")
        row.append("–" if quality is None else f"{quality.accuracy[place]:.2f}")
        for number in range(len(found.emotions)):
            steady = "–" if quality is None else f"{quality.stability[number, place]:.2f}"
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
