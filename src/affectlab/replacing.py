"""Writing a file whole or not at all: beside the one it is to replace, then in its place."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from affectlab.errors import UserError


def target(path: Path) -> Path:
    """The file that ``path`` means, symbolic links followed; it need not be there.

    Raises:
        UserError: When it is no regular file: a folder, a pipe, a device. A file cannot take its place.
    """
    try:
        place = path.resolve()
        folder, other = place.is_dir(), place.is_symlink() or (place.exists() and not place.is_file())
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror}. Name another file.") from error
    except RuntimeError as error:  # so Python says, before 3.13, that links go round in a circle
        raise UserError(f"{path} cannot be written: its symbolic links go round. Name another file.") from error
    if folder or not path.name:
        raise UserError(f"{path} is a folder; name a file.")
    if other:
        raise UserError(f"{path} is no regular file (a pipe or a device, say), and is left as it is; name a file.")
    return place


@contextmanager
def replacing(path: Path, name: str | None = None) -> Iterator[Path]:
    """A file to write to, beside what ``path`` means, that takes its place once it is whole.

    Where anything fails, what stood there stays, and nothing else is left.

    Args:
        path: What is to be replaced; may be a link, which stays one.
        name: Name of the file beside it; by default one that no other writer has.

    Raises:
        UserError: See :func:`target`.
        OSError: When it cannot be written.
    """
    place = target(path)
    part = place.with_name(name or f".{place.name}.{uuid4().hex}.part")
    try:
        yield part
        part.replace(place)
    finally:
        part.unlink(missing_ok=True)
