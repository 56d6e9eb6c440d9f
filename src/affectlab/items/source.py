"""From the name of a data source to its bytes and text, with one clear error for each way that can fail."""

from __future__ import annotations

from difflib import get_close_matches
from hashlib import sha256
from pathlib import Path

from affectlab.errors import UserError, WorldError, did_you_mean

HUB = "hub:"
"""Prefix of sources that are data sets of the Hugging Face hub: ``hub:NAME`` or ``hub:NAME:SPLIT``."""

_UTF8_BOM = b"\xef\xbb\xbf"
_OTHER_FORMATS = {
    b"\xff\xfe": "UTF-16 text; save it as UTF-8",
    b"\xfe\xff": "UTF-16 text; save it as UTF-8",
    b"\x1f\x8b": "gzip data; unpack it first",
    b"PK\x03\x04": "a zip archive or spreadsheet; unpack it or export it as CSV",
    b"PAR1": "a Parquet file; convert it to JSON lines or CSV",
}


def read_bytes(source: str) -> bytes:
    """Whole content of a file.

    Raises:
        UserError: When there is no such file, it is a directory, it may not be read, or it is empty.
        WorldError: When the disk fails.
    """
    path = Path(source).expanduser()
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            raise UserError(f"{source} is no regular file; write what it gives into a file first")
        data = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise UserError(_missing(source, path)) from error
    except IsADirectoryError as error:
        raise UserError(f"{source} is a directory; name one data file (jsonl, json, csv or tsv)") from error
    except PermissionError as error:
        raise UserError(f"{source} may not be read by this user; change its permissions or copy it") from error
    except ValueError as error:
        raise UserError(f"{source!r} is not a file name ({error})") from error
    except OSError as error:
        raise WorldError(f"{source} cannot be read: {error.strerror or error}") from error
    if not data.removeprefix(_UTF8_BOM).strip():
        raise UserError(f"{source} is empty; it must hold at least one row")
    return data


def read_text(source: str) -> str:
    """Whole text of a UTF-8 file, without a byte order mark; line ends as they are in the file.

    Raises:
        UserError: As :func:`read_bytes`, and when the bytes are not UTF-8 (with byte offset and line).
        WorldError: When the disk fails.
    """
    data = read_bytes(source)
    for magic, what in _OTHER_FORMATS.items():
        if data.startswith(magic):
            raise UserError(f"{source} holds {what}")
    try:
        return data.removeprefix(_UTF8_BOM).decode("utf-8")
    except UnicodeDecodeError as error:
        offset = error.start + (len(_UTF8_BOM) if data.startswith(_UTF8_BOM) else 0)
        line = data.count(b"\n", 0, offset) + 1
        raise UserError(
            f"{source} is not UTF-8: byte 0x{data[offset]:02x} at offset {offset} (line {line}); save the file as UTF-8"
        ) from error


def file_digest(source: str) -> str:
    """SHA-256 of a file's bytes, in hexadecimal."""
    return sha256(read_bytes(source)).hexdigest()


def folder_digest(source: str) -> str:
    """SHA-256 of a folder's JSON files, in hexadecimal: of each one's path in it and content, in order of the paths.

    Raises:
        UserError: When it holds none, or one may not be read.
        WorldError: When the disk fails.
    """
    digest = sha256()
    for name in json_files(source):
        digest.update(f"{name}\0{sha256(_content(Path(source).expanduser() / name)).hexdigest()}\n".encode())
    return digest.hexdigest()


def json_files(source: str) -> list[str]:
    """Paths of the JSON files in a folder and its folders, relative to it, with ``/``, in order; hidden ones left out.

    Names may hold dots and spaces, and end in ``.JSON`` as well.

    Raises:
        UserError: When there is none, or a folder may not be read.
    """
    folder = Path(source).expanduser()
    try:
        found = (path for path in folder.rglob("*") if path.suffix.lower() == ".json")
        inside = [path.relative_to(folder) for path in found if path.is_file()]
    except PermissionError as error:
        raise UserError(f"{error.filename or source} may not be read by this user; change its permissions") from error
    names = sorted(path.as_posix() for path in inside if not any(part.startswith(".") for part in path.parts))
    if not names:
        raise UserError(f"{source} is a folder without any .json file; name a data file, or a folder of JSON files")
    return names


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except PermissionError as error:
        raise UserError(f"{path} may not be read by this user; change its permissions or copy it") from error
    except OSError as error:
        raise WorldError(f"{path} cannot be read: {error.strerror or error}") from error


def _missing(source: str, path: Path) -> str:
    folder = path.parent
    if not folder.is_dir():
        return f"there is no file {source}: its folder {folder} does not exist; check the path"
    # By stem: names that share nothing but a long suffix are not alike.
    stems = {entry.stem: entry.name for entry in sorted(folder.iterdir())}
    near = [stems[stem] for stem in get_close_matches(path.stem, stems, n=3, cutoff=0.6)]
    return f"there is no file {source}{did_you_mean(str(folder / name) for name in near) or '; check the path'}"
