"""Image files that messages bring: read, recognised, named and sent.

PNG, JPEG, GIF and WebP are taken, by what is in the file and not by its name: what every kind of model can be shown. Of
a GIF or WebP that moves, the first frame is shown by a local model.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

from affectlab.errors import UserError
from affectlab.models.base import Message, Request


def all_of(messages: Iterable[Message]) -> tuple[str, ...]:
    """Paths of the images of a conversation, in the order in which they are shown."""
    return tuple(path for message in messages for path in message.images)


def first_with(requests: Iterable[Request]) -> Request | None:
    """The first request that brings an image."""
    return next((request for request in requests if any(message.images for message in request.messages)), None)


def check(requests: Iterable[Request]) -> None:
    """See that every image can be read, each file once.

    Raises:
        UserError: Naming the file and the first request that brings it.
    """
    seen: dict[str, Request] = {}
    for request in requests:
        for message in request.messages:
            for path in message.images:
                seen.setdefault(path, request)
    for path, request in seen.items():
        try:
            sha256(path)
        except UserError as error:
            raise UserError(f"{error} Item {request.item!r}, step {request.step!r}, brings it.") from None


def sha256(path: str) -> str:
    """Digest of a file's bytes; a file that has not changed is read once.

    Raises:
        UserError: When the file cannot be read or is no image.
    """
    try:
        found = Path(path).stat()
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from None
    return _sha256(path, found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=65536)
def _sha256(path: str, changed: int, size: int) -> str:
    return hashlib.sha256(_read(path)[0]).hexdigest()


def data_url(path: str) -> str:
    """A file as ``data:image/png;base64,…``.

    Raises:
        UserError: When the file cannot be read or is no image.
    """
    data, media_type = _read(path)
    return f"data:{media_type};base64,{base64.b64encode(data).decode('ascii')}"


def picture(path: str) -> Any:
    """A file as a picture of pillow, RGB, the right way up.

    Raises:
        UserError: When the file cannot be read, is no image, or is damaged.
    """
    import io
    import warnings

    from PIL import Image, ImageOps

    data, _ = _read(path)
    try:
        with warnings.catch_warnings():
            # Damaged notes beside a picture (its camera, its place) leave the picture as it is.
            warnings.simplefilter("ignore", UserWarning)
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(data)) as opened:
                return ImageOps.exif_transpose(opened).convert("RGB")
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise UserError(f"The image {path} has too many pixels. Make it smaller.") from None
    except (OSError, ValueError, SyntaxError, EOFError) as error:
        raise UserError(f"The image {path} is damaged ({error}). Save it again.") from error


def _read(path: str) -> tuple[bytes, str]:
    """A file's bytes and media type."""
    try:
        data = Path(path).read_bytes()
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from None
    media_type = _media_type(data)
    if media_type is None:
        what = "is empty" if not data else "is no PNG, JPEG, GIF or WebP image"
        raise UserError(f"{path} {what}. Save the picture as one of these and name that file.")
    return data, media_type


def _media_type(data: bytes) -> str | None:
    """Media type by a file's first bytes; ``None`` for what is no image that is taken."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    for start, media_type in (
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff", "image/jpeg"),
        (b"GIF87a", "image/gif"),
        (b"GIF89a", "image/gif"),
    ):
        if data.startswith(start):
            return media_type
    return None


def _unreadable(path: str, error: OSError | ValueError) -> UserError:
    if isinstance(error, FileNotFoundError):
        return UserError(f"There is no image {path}.")
    if isinstance(error, IsADirectoryError):
        return UserError(f"{path} is a folder, not an image.")
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return UserError(f"The image {path} cannot be read: {reason}.")
