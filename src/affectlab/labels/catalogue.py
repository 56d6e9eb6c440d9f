"""Finding and reading label spaces and mappings: the bundled TOML files, and those that other packages bring.

A package brings its own spaces through the entry-point group ``affectlab.label_spaces``: the entry's name is
the space's name, and its value is a :class:`LabelSpace` or the path of a TOML file (``str`` or ``Path``).
"""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from affectlab.errors import UserError, did_you_mean
from affectlab.labels.mapping import Mapping
from affectlab.labels.space import Label, LabelSpace

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

ENTRY_POINT_GROUP = "affectlab.label_spaces"

_SPACE_KEYS = {"name", "title", "version", "source", "groups", "components", "label"}
_LABEL_KEYS = {"id", "aliases", "group", "definition", "members", "level", "parts"}
_MAPPING_KEYS = {"name", "source", "target", "citation", "pair"}


def available() -> tuple[str, ...]:
    """Names of every label space: bundled ones first, then those of installed packages, each sorted."""
    bundled = _bundled("spaces")
    plugins = _plugins()
    for name in plugins:
        if name in bundled:
            raise UserError(
                f"an installed package ({plugins[name].value}) brings a label space {name!r}, "
                "a name affectlab uses itself; uninstall that package or ask its authors to rename the space"
            )
    return (*sorted(bundled), *sorted(plugins))


@cache
def load(name: str) -> LabelSpace:
    """The label space of a name, or of a TOML file when ``name`` ends in ``.toml``.

    Args:
        name: One of :func:`available`, or a path.

    Returns:
        The space; the same object each time.

    Raises:
        UserError: When there is none of this name (the nearest names are given), or its file is wrong.
    """
    bundled = _bundled("spaces")
    if name in bundled:
        return read_space(bundled[name])
    if name.endswith(".toml"):
        return read_space(Path(name))
    plugins = _plugins()
    if name in plugins:
        return _from_plugin(plugins[name])
    raise UserError(_unknown("label space", name, [*bundled, *plugins]))


def available_mappings() -> tuple[str, ...]:
    """Names of the bundled mappings between label spaces, sorted."""
    return tuple(sorted(_bundled("mappings")))


@cache
def load_mapping(name: str) -> Mapping:
    """The mapping of a name, or of a TOML file when ``name`` ends in ``.toml``; checked against both spaces.

    Raises:
        UserError: When there is none of this name, or it does not cover its source space.
    """
    bundled = _bundled("mappings")
    if name in bundled:
        return read_mapping(bundled[name])
    if name.endswith(".toml"):
        return read_mapping(Path(name))
    raise UserError(_unknown("mapping", name, list(bundled)))


def read_space(path: Path) -> LabelSpace:
    """Reads one label space from a TOML file. The format is described in ``docs/labels.md``.

    Raises:
        UserError: Naming the file and what is wrong in it.
    """
    data = _toml(path)
    _only(path, "the file", data, _SPACE_KEYS, required={"name", "title", "version", "source", "label"})
    rows = data["label"]
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise UserError(f"{path}: write each label as a [[label]] table")
    try:
        return LabelSpace(
            name=_text(path, data, "name"),
            title=_text(path, data, "title"),
            version=_text(path, data, "version"),
            source=_text(path, data, "source"),
            labels=tuple(_label(path, row) for row in rows),
            groups=_texts(path, data, "groups"),
            components=_texts(path, data, "components"),
        )
    except UserError as error:
        raise error if str(error).startswith(str(path)) else UserError(f"{path}: {error}") from error


def read_mapping(path: Path) -> Mapping:
    """Reads one mapping from a TOML file and checks it against its two spaces.

    Raises:
        UserError: Naming the file and what is wrong in it.
    """
    data = _toml(path)
    _only(path, "the file", data, _MAPPING_KEYS, required={"name", "source", "target", "pair"})
    pairs: dict[str, str] = {}
    dropped: list[str] = []
    reasons: dict[str, str] = {}
    for row in data["pair"]:
        _only(path, "a [[pair]]", row, {"from", "to", "reason"}, required={"from"})
        source = _text(path, row, "from")
        if source in pairs or source in dropped:
            raise UserError(f"{path}: {source!r} is mapped more than once")
        if "to" in row:
            pairs[source] = _text(path, row, "to")
        else:
            dropped.append(source)
        if "reason" in row:
            reasons[source] = _text(path, row, "reason")
    mapping = Mapping(
        name=_text(path, data, "name"),
        source=_text(path, data, "source"),
        target=_text(path, data, "target"),
        pairs=pairs,
        dropped=tuple(dropped),
        reasons=reasons,
        citation=_text(path, data, "citation") if "citation" in data else "",
    )
    try:
        mapping.check(load(mapping.source), load(mapping.target))
    except UserError as error:
        raise UserError(f"{path}: {error}") from error
    return mapping


def _label(path: Path, row: dict[str, Any]) -> Label:
    # Any two- or three-letter key is a language: names are written en = "...", zh = "...".
    languages = [key for key in row if key not in _LABEL_KEYS and 2 <= len(key) <= 3 and key.isalpha()]
    label_id = _text(path, row, "id") if "id" in row else ""
    _only(path, f"label {label_id!r}", row, _LABEL_KEYS | set(languages), required={"id", "en"})
    level = row.get("level")
    if level is not None and not (isinstance(level, int) and not isinstance(level, bool)):
        raise UserError(f"{path}: label {label_id!r}: level must be a whole number, not {level!r}")
    return Label(
        id=label_id,
        names={language: _text(path, row, language) for language in languages},
        aliases=_texts(path, row, "aliases"),
        group=_text(path, row, "group") if "group" in row else "",
        definition=_text(path, row, "definition") if "definition" in row else "",
        members=_texts(path, row, "members"),
        level=level,
        parts=_texts(path, row, "parts"),
    )


def _toml(path: Path) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror or error}); check the path") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not UTF-8 at byte {error.start}; save the file as UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{path}: not valid TOML: {error}") from error


def _only(path: Path, where: str, table: dict[str, Any], allowed: set[str], required: set[str]) -> None:
    missing = sorted(required - set(table))
    unknown = sorted(set(table) - allowed)
    if missing:
        raise UserError(f"{path}: {where} lacks {', '.join(missing)}")
    if unknown:
        raise UserError(f"{path}: {where} has unknown {', '.join(unknown)}; allowed: {', '.join(sorted(allowed))}")


def _text(path: Path, table: dict[str, Any], key: str) -> str:
    value = table[key]
    if not isinstance(value, str) or not value.strip():
        raise UserError(f"{path}: {key} must be a non-empty string, not {value!r}")
    return value


def _texts(path: Path, table: dict[str, Any], key: str) -> tuple[str, ...]:
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
        raise UserError(f"{path}: {key} must be a list of strings, not {value!r}")
    return tuple(value)


def _bundled(folder: str) -> dict[str, Path]:
    return {path.stem: path for path in (Path(__file__).parent / folder).glob("*.toml")}


def _plugins() -> dict[str, EntryPoint]:
    from importlib.metadata import (
        entry_points,
    )  # costs as much as all the rest of this package; seldom needed

    return {entry.name: entry for entry in entry_points(group=ENTRY_POINT_GROUP)}


def _from_plugin(entry: EntryPoint) -> LabelSpace:
    where = f"entry point {entry.name!r} = {entry.value!r}"
    try:
        found = entry.load()
    except (ImportError, AttributeError) as error:
        raise UserError(f"{where}: cannot be loaded ({error}); reinstall or uninstall its package") from error
    if isinstance(found, str | Path):
        found = read_space(Path(found))
    if not isinstance(found, LabelSpace):
        raise UserError(
            f"{where}: gives a {type(found).__name__}; it must give a LabelSpace or the path of a TOML file"
        )
    if found.name != entry.name:
        raise UserError(f"{where}: gives the label space {found.name!r}; both names must be the same")
    return found


def _unknown(what: str, name: str, known: list[str]) -> str:
    near = get_close_matches(name, known, n=3, cutoff=0.5)
    return f"there is no {what} {name!r}{did_you_mean(near) or ';'} There are: {', '.join(sorted(known))}"
