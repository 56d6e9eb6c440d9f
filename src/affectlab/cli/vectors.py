"""``affectlab vectors``: extract emotion vectors, look at them, prove them, hand them to other tools."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from affectlab.cli.common import AsJson, Device, Dtype, pairs, print_json
from affectlab.cli.vectors_output import (
    described,
    document,
    explained,
    explained_to_dict,
    made_of,
    print_vectors,
    validation_to_dict,
    write_each,
    write_figure,
    write_page,
    write_suggestion,
)
from affectlab.errors import UserError
from affectlab.replacing import target

if TYPE_CHECKING:
    from affectlab.models import ModelSettings

FIGURES = (".svg", ".png", ".pdf")

VectorFile: TypeAlias = Annotated[Path, typer.Argument(help="A file that `affectlab vectors extract` wrote.")]
Model: TypeAlias = Annotated[str, typer.Option(help="Local model: smollm2, gguf:PATH, hf:ORG/NAME or a folder.")]
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
    from affectlab.cli.progress import steps
    from affectlab.models.subject import open_subject
    from affectlab.steering.contrast import METHODS
    from affectlab.steering.selfreport import self_reports
    from affectlab.steering.stimuli import check_names
    from affectlab.steering.subject import TOKEN_RULES
    from affectlab.steering.validation import CONTROLS

    if method not in METHODS:
        raise UserError(f"--method {method!r}: expected one of {', '.join(METHODS)}.")
    if states not in TOKEN_RULES:
        raise UserError(f"--states {states!r}: expected one of {', '.join(TOKEN_RULES)}.")
    _check_place(out)
    wanted = steering.EMOTIONS if emotions is None else tuple(filter(None, map(str.strip, emotions.split(","))))
    texts = steering.load_stimuli(stimuli, pairs(field_map or [], "--map"), wanted)
    check_names(texts.emotions)
    subject = open_subject(model, _settings(device, dtype, threads, batch_tokens))
    with steps(silent=as_json) as told:
        found = steering.extract(
            subject,
            texts,
            method,
            states,
            seed=seed,
            keep_activations=activations,
            progress=told,
        )
    steering.save(found, out)
    if as_json:
        print_json({"file": str(out), **described(found)})
    else:
        print_vectors(found)
        usual, asked = steering.Settings(), len(found.emotions) * len(self_reports())
        sweep = asked * len(found.layers) * len(usual.sweep_strengths)
        controls = asked * len(CONTROLS) * usual.controls
        print(f"\nVectors: {out}\nNext: affectlab vectors validate {out} --model {model} --sweep-layers none")
        print(f"{controls:,} of its prompts are for control vectors; --controls 0 leaves them out.")
        print(f"Without --sweep-layers none it also steers every layer alone, which is {sweep:,} prompts more.")


def show(
    file: VectorFile,
    condition: Annotated[
        list[str] | None, typer.Option(help="A condition to explain, as for `affectlab run --condition`. Repeatable.")
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(help="The vectors' model: measures doses in nats, and what the conditions do to plain text."),
    ] = None,
    device: Device = "auto",
    dtype: Dtype = "float32",
    threads: Threads = None,
    batch_tokens: BatchTokens = 8192,
    as_json: AsJson = False,
) -> None:
    """Describe a file, or conditions made from it."""
    from affectlab import steering
    from affectlab.cli.progress import steps
    from affectlab.models.subject import open_subject
    from affectlab.steering.coherence import coherence

    if model is not None and not condition:
        raise UserError("--model measures conditions: name one with --condition.")
    found = steering.load(file)
    subject = None if model is None else open_subject(model, _settings(device, dtype, threads, batch_tokens))
    applier = steering.Applier(found, subject)
    wanted = [steering.parse(text) for text in condition or []]
    with steps(silent=as_json or subject is None) as told:
        applied = []
        for done, one in enumerate(wanted, 1):
            applied.append(applier(one))
            told("conditions", done, len(wanted))
        states = [one.intervention for one in applied]
        plain = [None] * len(applied) if subject is None else coherence(subject, states, progress=told)
    if as_json:
        told_of = [explained_to_dict(*one) for one in zip(applied, plain, strict=True)]
        print_json({"file": str(file), **described(found), **({"conditions": told_of} if applied else {})})
    elif applied:
        print("\n".join(explained(*one) for one in zip(applied, plain, strict=True)))
    else:
        print_vectors(found)


def validate(
    file: VectorFile,
    model: Model,
    layers: Annotated[
        str, typer.Option(help="Layers steered together: early, middle, late, all, or 10-19.")
    ] = "middle",
    strengths: Annotated[
        str, typer.Option(help="Strengths there, × the median token norm.")
    ] = "0.025,0.05,0.1,0.2,0.4",
    compared: Annotated[
        float | None, typer.Option(help="The one at which controls are compared. Default: the first.")
    ] = None,
    controls: Annotated[
        int, typer.Option(help="Control vectors of each kind for each emotion; 0 for none.", min=0)
    ] = 19,
    sweep_layers: Annotated[str, typer.Option(help="Layers steered one at a time: all, none, or 0-29.")] = "all",
    sweep_strengths: Annotated[
        str, typer.Option(help="Strengths there; the paper's by default.")
    ] = "1,4,8,10,15,20,40,80",
    sweep_scale: Annotated[str, typer.Option(help="What they count in: unit, raw, relative.")] = "unit",
    write: Annotated[
        bool, typer.Option("--write", help="Write the suggested layers into the file, for layers=best.")
    ] = False,
    html: Annotated[Path | None, typer.Option(help="Also write a page.")] = None,
    figure: Annotated[Path | None, typer.Option(help=f"Also write the heatmap ({', '.join(FIGURES)}).")] = None,
    seed: Seed = 0,
    device: Device = "auto",
    dtype: Dtype = "float32",
    threads: Threads = None,
    batch_tokens: BatchTokens = 8192,
    as_json: AsJson = False,
) -> None:
    """Validate, print the tables, and write what was asked for."""
    from affectlab import steering
    from affectlab.cli.progress import steps
    from affectlab.models.subject import open_subject
    from affectlab.report.terminal import print_document
    from affectlab.steering.validation_tables import suggested_layers

    swept = _swept(sweep_layers)
    if figure is not None and swept == ():
        raise UserError("--figure draws the sweep over single layers, which --sweep-layers none leaves out.")
    if figure is not None and figure.suffix.lower() not in FIGURES:
        raise UserError(f"--figure {figure}: the name's end says what is drawn; end it in {', '.join(FIGURES)}.")
    for path in (figure, html, file if write else None):
        _check_place(path)
    if sweep_scale not in ("unit", "raw", "relative"):
        raise UserError(f"--sweep-scale {sweep_scale!r}: expected unit, raw or relative.")
    numbers = _numbers("--strengths", strengths)
    settings = steering.Settings(
        sweep_strengths=_numbers("--sweep-strengths", sweep_strengths),
        sweep_scale=sweep_scale,  # type: ignore[arg-type]
        sweep_layers=swept,
        layers=_layers("--layers", layers),
        strengths=numbers,
        compared=numbers[0] if compared is None else compared,
        controls=controls,
        seed=seed,
    )
    vectors = steering.load(file)
    subject = open_subject(model, _settings(device, dtype, threads, batch_tokens))
    vectors.check(subject.identity)
    with steps(silent=as_json) as told:
        found = steering.validate(subject, vectors, settings, told)
    best = suggested_layers(found)
    made = made_of(found, vectors, subject, file)
    page = document(found, best, made)
    # Printed before anything is written: what took hours is not lost where a page cannot be.
    if as_json:
        print_json({"file": str(file), **validation_to_dict(found, best), "made": made})
    else:
        print_document(page)
    sys.stdout.flush()
    writers: list[Callable[[], str]] = []
    writers += [partial(write_suggestion, vectors, found, best, file)] if write else []
    writers += [] if html is None else [partial(write_page, page, html)]
    writers += [] if figure is None else [partial(write_figure, found, figure)]
    write_each(writers, silent=as_json)


def _check_place(path: Path | None) -> None:
    """Refuse a place that nothing can be written to before anything is computed."""
    if path is not None and not target(path).parent.is_dir():
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
        return tuple(dict.fromkeys(float(piece) for piece in text.split(",")))
    except ValueError:
        raise UserError(f"{option} {text!r}: expected numbers joined by commas, for example 0.05,0.1.") from None


def _layers(option: str, text: str) -> str:
    """Layers as conditions write them."""
    from affectlab.steering.conditions import layer_text

    try:
        return layer_text(text, text)
    except UserError:
        raise UserError(
            f"{option} {text!r}: expected early, middle, late, all, best, or layers that rise, like 10-19 or 3,5,7."
        ) from None


def _swept(text: str) -> tuple[int, ...] | None:
    """Layers of the sweep; ``None`` for all."""
    from affectlab.steering.conditions import layer_numbers

    if text in ("all", "none"):
        return None if text == "all" else ()
    if not text[:1].isdecimal():
        raise UserError(f"--sweep-layers {text!r}: expected all, none, or numbers like 0-29 or 3,5,7.")
    return tuple(sorted(layer_numbers(_layers("--sweep-layers", text))))
