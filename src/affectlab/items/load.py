"""From a data source to items: every row validated, every problem reported at once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, TypeVar, overload

from affectlab.errors import UserError, did_you_mean
from affectlab.items.item import Item
from affectlab.items.parse import Parsed, Row
from affectlab.items.personal import drop_personal
from affectlab.items.problems import DataError, Problem, shorten
from affectlab.items.read import scan_rows

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic.fields import FieldInfo
    from pydantic_core import ErrorDetails

R = TypeVar("R", bound="BaseModel")

_PLAIN = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "extra_forbidden": "no field of this name",
    "string_too_short": "text that is not empty",
}


@dataclass(frozen=True)
class Loaded(Sequence[Item]):
    """Items of a source, as a sequence, and what of the source went into none of them.

    Attributes:
        items: In file order.
        ignored: Columns that nothing reads, those with personal data included; to be recorded, not lost silently.
        notes: Sentences about the data that reports must show (a rule that some records break).
    """

    items: tuple[Item, ...]
    ignored: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.items)

    def __repr__(self) -> str:
        first = ", ".join(repr(item.id) for item in self.items[:3])
        return f"<{len(self)} items: {first}{', …' if len(self) > 3 else ''}>"

    @overload
    def __getitem__(self, place: int) -> Item: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Item, ...]: ...
    def __getitem__(self, place: int | slice) -> Item | tuple[Item, ...]:
        return self.items[place]


def load_items(
    source: str,
    fields: Mapping[str, str],
    record: type[R],
    to_item: Callable[[R, int], Item],
    check: Callable[[Sequence[tuple[Row, R]]], Iterable[Problem]] | None = None,
    scan: Callable[[str, Mapping[str, str]], Parsed] = scan_rows,
) -> Loaded:
    """Reads, validates and converts a data source.

    Columns that hold personal data (:func:`affectlab.items.personal.personal_columns`) are left out first,
    unless ``record`` or ``fields`` names them. Where a row has a field under several of its names, the one that
    ``fields`` names is taken, else the first that holds something; the others count as not used.

    Args:
        source: What :func:`affectlab.items.read.scan_rows` takes.
        fields: Our field name -> the file's column.
        record: Pydantic model of one row.
        to_item: Item of a valid record and its position among the rows, from 0.
        check: Rules that need all rows at once; gets the valid rows and yields problems.
        scan: What turns the source into rows, for benchmarks whose data are more than one table.

    Returns:
        Items in file order, with unique ids, and the columns that were not used.

    Raises:
        DataError: Listing every bad row, when any is bad; nothing is loaded then.
        UserError: When the source cannot be read, or no row has a required field.
        WorldError: When the disk or the hub fails.
    """
    from pydantic import ValidationError

    _check_fields(source, fields, record)
    read, found = scan(source, fields)
    problems = list(found)
    named, personal = drop_personal(read, keep={*record.model_fields, *fields})
    _check_columns(source, named, record)
    rows, beaten = _one_spelling(named, fields, record)
    valid: list[tuple[Row, R]] = []
    items: list[Item] = []
    first: dict[str, Row] = {}
    for index, row in enumerate(rows):
        try:
            parsed = record.model_validate(row.data)
            item = to_item(parsed, index)
        except ValidationError as error:
            wrong = [_problem(row, detail) for detail in error.errors(include_url=False)]
            problems += wrong
            key = _written_id(row, record) if all(problem.field != "id" for problem in wrong) else None
        except UserError as error:
            problems.append(row.problem("", "a row that makes no item", str(error)))
            key = _written_id(row, record)
        else:
            valid.append((row, parsed))
            items.append(item)
            key = item.id
        if key is not None and first.setdefault(key, row) is not row:
            problems.append(_same_id(row, first[key], key, record))
    if check is not None:
        problems += check(valid)
    if problems:
        raise DataError(source, problems)
    return Loaded(tuple(items), (*personal, *_unread(named, fields, record, beaten)))


def _written_id(row: Row, record: type[BaseModel]) -> str | None:
    """The id of a row that is bad for another reason: it may be used twice all the same."""
    written = row.data.get("id") if "id" in record.model_fields else None
    return str(written) if type(written) in {str, int} else None


def _same_id(row: Row, earlier: Row, key: str, record: type[BaseModel]) -> Problem:
    """Two rows of one id, which a row without one of its own may have been given."""
    if not _has_id(row, record):
        return row.problem("id", "nothing", f"an id: without one it is {shorten(key)}, as {earlier.place} is")
    named = "has it already" if _has_id(earlier, record) else "has no id and was given this one"
    return row.problem("id", shorten(key), f"a unique id; {earlier.place} {named}")


def _has_id(row: Row, record: type[BaseModel]) -> bool:
    field = record.model_fields.get("id")
    return field is None or any(row.data.get(name) not in (None, "") for name in spellings("id", field))


def _own_spellings(record: type[BaseModel]) -> dict[str, list[str]]:
    """The names of each field, first the one that is read first, without those that another field is called by."""
    ours = record.model_fields
    return {
        name: [one for one in spellings(name, field) if one == name or one not in ours] for name, field in ours.items()
    }


def _one_spelling(
    rows: Sequence[Row], fields: Mapping[str, str], record: type[BaseModel]
) -> tuple[Sequence[Row], list[str]]:
    """Rows that have each field under one of its names, and the names under which some row said something else."""
    columns = {name for row in rows for name in row.data}
    heads = {name.partition(".")[0] for name in fields}
    beaten: dict[str, None] = {}
    for names in _own_spellings(record).values():
        there = [name for name in names if name in columns]
        if len(there) > 1:
            meant = [name for name in there if name in heads]
            rows = [_with_one(row, there, meant, beaten) for row in rows]
    return rows, list(beaten)


def _with_one(row: Row, names: list[str], meant: list[str], beaten: dict[str, None]) -> Row:
    written = [name for name in names if row.data.get(name) not in (None, "")]
    [best, *_] = meant or written or names
    others = [name for name in names if name != best and name in row.data]
    beaten.update(dict.fromkeys(name for name in others if name in written and row.data[name] != row.data.get(best)))
    return replace(row, data={name: value for name, value in row.data.items() if name not in others}) if others else row


def _unread(
    rows: Sequence[Row], fields: Mapping[str, str], record: type[BaseModel], beaten: Iterable[str]
) -> list[str]:
    """Columns no field is read from; none when the record takes whatever it is given (``extra="allow"``)."""
    if record.model_config.get("extra") == "allow":
        return []
    read = {spelling for name, field in record.model_fields.items() for spelling in spellings(name, field)} - {*beaten}
    columns = dict.fromkeys(name for row in rows for name in row.data if name not in read)
    mapped = set(fields.values())
    return list(dict.fromkeys(rest for column in columns for rest in _rest(rows, column, mapped)))


def _rest(rows: Sequence[Row], column: str, mapped: set[str]) -> Iterator[str]:
    """An unread column; of one whose inside was mapped in part, the keys that were not (``"feelings.note"``)."""

    def within(value: Any, path: str) -> Iterator[str]:
        if path in mapped:
            return
        if isinstance(value, Mapping) and any(one.startswith(path + ".") for one in mapped):
            for name, inner in value.items():
                yield from within(inner, f"{path}.{name}")
        else:
            yield path

    if not any(one.startswith(column + ".") for one in mapped):
        yield column
        return
    for row in rows:
        if column in row.data:
            yield from within(row.data[column], column)


def _check_fields(source: str, fields: Mapping[str, str], record: type[BaseModel]) -> None:
    """Refuse a mapping to a field the record does not have: it would be ignored, and the column with it."""
    if record.model_config.get("extra") == "allow":
        return
    ours = {spelling for name, field in record.model_fields.items() for spelling in spellings(name, field)}
    for name in fields:
        if name not in ours and name.partition(".")[0] not in ours:
            hint = did_you_mean(get_close_matches(name, record.model_fields, n=1, cutoff=0.5)) or ";"
            raise UserError(
                f"{source}: --map {name}={fields[name]}: there is no field {name!r}{hint} "
                f"The fields are {', '.join(record.model_fields)}."
            )
    heads = {name.partition(".")[0]: name for name in fields}
    for field, names in _own_spellings(record).items():
        if len(twice := [f"--map {heads[name]}={fields[heads[name]]}" for name in names if name in heads]) > 1:
            raise UserError(f"{source}: {' and '.join(twice)} both say what {field} is; leave one out.")


def _check_columns(source: str, rows: Sequence[Row], record: type[BaseModel]) -> None:
    columns = dict.fromkeys(name for row in rows for name in row.data)
    absent = [
        name
        for name, field in record.model_fields.items()
        if field.is_required() and columns.keys().isdisjoint(spellings(name, field))
    ]
    if absent:
        raise UserError(
            f"{source}: no row has {', '.join(absent)}. The columns are: {', '.join(columns)}. "
            f"Say which one is meant, for example --map {absent[0]}=COLUMN"
        )


def spellings(name: str, field: FieldInfo) -> list[str]:
    """Every top-level column name a field is read from, the one that is read first in front."""
    from pydantic import AliasChoices

    alias = field.validation_alias
    choices = alias.choices if isinstance(alias, AliasChoices) else [alias or field.alias or name]
    return list(dict.fromkeys((*(choice for choice in choices if isinstance(choice, str)), name)))


def _problem(row: Row, detail: ErrorDetails) -> Problem:
    field = ".".join(str(part) for part in detail["loc"])
    if detail["type"] == "missing":
        return row.problem(field, "nothing", "a value")
    # A rule of the whole record: its message names the values, the record itself would only hide them.
    found = shorten(detail["input"]) if field else "fields that do not go together"
    return row.problem(field, found, _expected(detail))


def _expected(detail: ErrorDetails) -> str:
    kind, context, message = detail["type"], detail.get("ctx", {}), detail["msg"]
    if kind in {"literal_error", "enum"}:
        near = get_close_matches(str(detail["input"]), re.findall(r"'([^']*)'", context["expected"]), n=1)
        return f"one of {context['expected']}{did_you_mean(map(repr, near))}"
    if kind == "value_error":
        return str(context["error"])
    return _PLAIN.get(kind, message[:1].lower() + message[1:])
