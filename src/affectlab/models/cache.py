"""The user's cache: what is made once on a machine and used by every run."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout


def cache_folder(kind: str = "models") -> Path:
    """Where things of a kind are kept: ``affectlab/KIND`` under ``XDG_CACHE_HOME``, else under ``~/.cache``."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "affectlab" / kind


@contextmanager
def locked(path: Path, what: str) -> Iterator[None]:
    """Hold the lock of something in the cache, waiting for another process that has it."""
    lock = FileLock(path)
    try:
        lock.acquire(timeout=0.5)
    except Timeout:
        say(f"Another process has {what} in hand: waiting for it.")
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def say(text: str) -> None:
    """A line for people on standard error: something takes long, or is done anew."""
    print(text, file=sys.stderr, flush=True)
