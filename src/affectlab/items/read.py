"""Reading a data source into rows, whatever its format, with the user's names of columns."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches
from hashlib import sha256
from pathlib import Path
from typing import Any

from affectlab.errors import UserError, did_you_mean
from affectlab.items.parse import Parsed, Row, parse_json, parse_json_lines, parse_table
from affectlab.items.problems import DataError, shorten
from affectlab.items.source import HUB, file_digest, folder_digest, read_text

_ABSENT = object()
_NO_FIELDS: Mapping[str, str] = {}


def read_rows(source: str, fields: Mapping[str, str] = _NO_FIELDS) -> list[Row]:
    """Reads all rows of a source, and refuses it whole when one of them is no row.

    Args:
        source: What :func:`scan_rows` takes.
        fields: Our field name -> the file's column, as there.

    Returns:
        Rows in file order; never empty.

    Raises:
        DataError: Listing everything that is no row.
        UserError: As :func:`scan_rows`.
        WorldError: As :func:`scan_rows`.
    """
    rows, problems = scan_rows(source, fields)
    if problems:
        raise DataError(source, problems)
    return rows


def scan_rows(source: str, fields: Mapping[str, str] = _NO_FIELDS) -> Parsed:
    """Reads the rows of a source, and what is wrong in those that are none.

    The format goes by the suffix (``.jsonl``, ``.ndjson``, ``.json``, ``.csv``, ``.tsv``) and, where that
    says nothing or a ``.json`` file holds one object a line, by the content.

    Args:
        source: Path of a UTF-8 file (a byte order mark and CRLF are accepted), or ``hub:NAME[:SPLIT]`` for a
            data set of the Hugging Face hub, which needs ``affectlab[hub]``.
        fields: Our field name -> the file's column. A column may be a dotted path into nested objects. A
            renamed top-level column is no longer there under its old name.

    Returns:
        Rows in file order, never empty, and the problems.

    Raises:
        DataError: When all rows are bad.
        UserError: Naming the source, what is wrong with it, and what to do.
        WorldError: When the disk or the hub fails.
    """
    if source.startswith(HUB):
        from affectlab.items.hub import read_hub

        rows, problems = Parsed(read_hub(source), [])
    else:
        rows, problems = _parse(source, read_text(source))
    if not rows:
        if problems:
            raise DataError(source, problems)
        raise UserError(f"{source} holds no rows; it must hold at least one")
    return Parsed(rename(source, rows, fields), problems)


def source_digest(source: str) -> str:
    """SHA-256 of a source, in hexadecimal: of a file's bytes, a folder's JSON files, or a hub data set's rows."""
    if not source.startswith(HUB):
        return folder_digest(source) if Path(source).expanduser().is_dir() else file_digest(source)
    from affectlab.items.hub import read_hub

    digest = sha256()
    for row in read_hub(source):
        digest.update(json.dumps(row.data, ensure_ascii=False, sort_keys=True, default=str).encode() + b"\n")
    return digest.hexdigest()


def read_json_file(folder: str, name: str) -> Parsed:
    """Rows of one JSON file of a folder, each naming the file it stands in.

    Args:
        folder: The folder.
        name: Path in it, as :func:`affectlab.items.source.json_files` gives it.

    Raises:
        UserError: When it is empty or no JSON, naming it.
        WorldError: When the disk fails.
    """
    source = str(Path(folder).expanduser() / name)
    rows, problems = parse_json(source, read_text(source))
    return Parsed([replace(row, file=name) for row in rows], [replace(one, file=name) for one in problems])


def rename(source: str, rows: list[Row], fields: Mapping[str, str]) -> list[Row]:
    """Rows with the user's columns under our names.

    Raises:
        UserError: When no row has a column that is asked for; names the columns there are.
    """
    for ours, column in fields.items():
        if all(_at(row.data, column) is _ABSENT for row in rows):
            raise UserError(_no_column(source, rows, column, ours))
    return [replace(row, data=_renamed(row.data, fields)) for row in rows] if fields else rows


def _no_column(source: str, rows: list[Row], column: str, ours: str = "") -> str:
    columns = list(dict.fromkeys(name for row in rows for name in _paths(row.data)))
    near = get_close_matches(column, columns, n=3, cutoff=0.6)
    meant = f" (for {ours})" if ours else ""
    return f"{source} has no column {column!r}{meant}{did_you_mean(near) or ';'} It has: {', '.join(columns)}"


def _renamed(data: dict[str, Any], fields: Mapping[str, str]) -> dict[str, Any]:
    taken = set(fields.values())
    kept = {name: value for name, value in data.items() if name not in taken}
    found = {ours: _at(data, column) for ours, column in fields.items()}
    return kept | {ours: value for ours, value in found.items() if value is not _ABSENT}


def _at(data: Any, column: str) -> Any:
    # A column whose own name holds a dot is meant before a path is.
    if not isinstance(data, dict):
        return _ABSENT
    if column in data:
        return data[column]
    head, dot, rest = column.partition(".")
    return _at(data[head], rest) if dot and head in data else _ABSENT


def _paths(data: dict[str, Any], prefix: str = "") -> list[str]:
    paths: list[str] = []
    for name, value in data.items():
        paths.append(prefix + name)
        if isinstance(value, dict):
            paths += _paths(value, f"{prefix}{name}.")
    return paths


def _parse(source: str, text: str) -> Parsed:
    suffix = Path(source).suffix.lower()
    if suffix == ".csv":
        return parse_table(source, text, ",")
    if suffix in {".tsv", ".tab"}:
        return parse_table(source, text, "\t")
    start = text.lstrip()
    if start.startswith("["):
        return parse_json(source, text)
    if suffix in {".jsonl", ".ndjson"}:
        return parse_json_lines(text)
    if start.startswith("{"):
        return parse_json_lines(text) if _object_a_line(start) else parse_json(source, text)
    if suffix == ".json":
        return parse_json(source, text)
    return parse_table(source, text, "\t" if "\t" in start.partition("\n")[0] else ",")


def _object_a_line(text: str) -> bool:
    first, _, rest = text.partition("\n")
    if not rest.strip():
        return False
    try:
        json.loads(first)
    except (ValueError, RecursionError):
        return False
    return True


def read_texts(source: str, field: str) -> dict[str, str]:
    """The texts of one column, for checks that need nothing else of a file.

    Args:
        source: What :func:`scan_rows` takes.
        field: The file's column that holds the text; may be a dotted path.

    Returns:
        Key -> text, in file order. The key is the row's ``id`` where every row has one of its own, else where it is
        (``line 7``, ``row 7``).

    Raises:
        DataError: Listing every row without text in this column.
        UserError: When the source cannot be read or has no such column.
        WorldError: When the disk or the hub fails.
    """
    rows = read_rows(source)
    texts = [_at(row.data, field) for row in rows]
    if all(text is _ABSENT for text in texts):
        raise UserError(_no_column(source, rows, field))
    problems = [
        row.problem(field, "nothing" if text is _ABSENT else shorten(text), "text")
        for row, text in zip(rows, texts, strict=True)
        if not isinstance(text, str)
    ]
    if problems:
        raise DataError(source, problems)
    return dict(zip(_keys(rows), texts, strict=True))


def _keys(rows: list[Row]) -> list[str]:
    ids = [str(row.data["id"]) for row in rows if row.data.get("id") is not None]
    return ids if len(set(ids)) == len(rows) else [row.place for row in rows]
