"""How a model is opened: everything a user may set about it, in one value."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from affectlab.errors import UserError

DType: TypeAlias = Literal["float32", "bfloat16", "float16"]

_DTYPES = ("float32", "bfloat16", "float16")


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """What ``open_model`` needs besides the spec. Remote models read the first group, local ones the second.

    Attributes:
        base_url: Endpoint of a remote model (``http://localhost:8000/v1``); ``None`` for ``OPENAI_BASE_URL``,
            then OpenAI's own.
        concurrency: Most remote calls in flight, at least 1.
        timeout_s: Seconds one remote call may take, above 0.
        retries: Further attempts of a remote call after the first, 0 or more.
        device: ``auto`` (a CUDA device if there is one, else the CPU), ``map`` (spread by accelerate over all devices
            there are), or torch's ``cpu``, ``cuda``, ``cuda:1`` …, ``mps``, ``xpu``.
        dtype: Type of the weights. Reported figures want ``float32``: in half precision a text depends on its
            batch.
        threads: CPU threads of local computation; ``None`` leaves torch's own choice.
        batch_tokens: Most tokens of one local batch (rows times longest row, new tokens included), at least
            1. A single row longer than this is a batch of its own.
        vectors: File of emotion vectors for conditions; ``None`` for the model's own of the bundled stimuli.

    Raises:
        UserError: When a value is out of range.
    """

    base_url: str | None = None
    concurrency: int = 16
    timeout_s: float = 120.0
    retries: int = 5
    device: str = "auto"
    dtype: DType = "float32"
    threads: int | None = None
    batch_tokens: int = 8192
    vectors: Path | None = None

    def __post_init__(self) -> None:
        _require(self.concurrency >= 1, "concurrency", self.concurrency, "1 or more")
        _require(0 < self.timeout_s < float("inf"), "timeout_s", self.timeout_s, "a number of seconds above 0")
        _require(self.retries >= 0, "retries", self.retries, "0 or more")
        _require(self.dtype in _DTYPES, "dtype", self.dtype, "one of " + ", ".join(_DTYPES))
        _require(self.threads is None or self.threads >= 1, "threads", self.threads, "1 or more")
        _require(self.batch_tokens >= 1, "batch_tokens", self.batch_tokens, "1 or more")
        url = self.base_url
        _require(
            url is None or url.startswith(("http://", "https://")),
            "base_url",
            url,
            "an http:// or https:// address",
        )


def _require(ok: bool, name: str, found: object, expected: str) -> None:
    if not ok:
        raise UserError(f"Model setting {name} is {found!r}: it must be {expected}.")
