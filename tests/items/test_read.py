from __future__ import annotations

import csv
import io
import json
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affectlab.errors import UserError, WorldError
from affectlab.items import DataError, Row, read_rows, read_texts, source_digest
from affectlab.items.parse import parse_json, parse_json_lines, parse_table
from affectlab.items.read import read_json_file
from affectlab.items.source import json_files


def put(folder: Path, name: str, content: str | bytes) -> str:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)


ROWS = [Row(1, {"a": 1}), Row(2, {"a": 2})]


@pytest.mark.parametrize(
    ("name", "content", "lines"),
    [
        ("x.jsonl", '{"a":1}\n{"a":2}\n', [1, 2]),
        ("x.jsonl", '{"a":1}\n{"a":2}', [1, 2]),
        ("x.jsonl", '\ufeff{"a":1}\r\n\r\n{"a":2}\r\n', [1, 3]),
        ("x.ndjson", '{"a":1}\n{"a":2}\n', [1, 2]),
        ("x.JSONL", '{"a":1}\n{"a":2}\n', [1, 2]),
        ("x", '{"a":1}\n{"a":2}\n', [1, 2]),
        ("x.json", '{"a":1}\n{"a":2}\n', [1, 2]),
        ("x.json", '[{"a":1},\n{"a":2}]\n', [1, 2]),
        ("x.jsonl", '[\n{"a":1},\n{"a":\n2}]\n', [2, 3]),
        ("x.txt", ' [{"a":1}, {"a":2}]', [1, 1]),
        ("x.json", '{"data": [{"a":1},\n\n{"a":2}]}', [1, 3]),
        ("x.json", '{"anything": [{"a":1}, {"a":2}]}', [1, 1]),
        ("x.json", '{"version": [1, {"b": 2}],\n"rows" :\n[{"a":1}, {"a":2}]}', [3, 3]),
    ],
)
def test_json_layouts(tmp_path: Path, name: str, content: str, lines: list[int]) -> None:
    rows = read_rows(put(tmp_path, name, content))
    assert [row.data for row in rows] == [{"a": 1}, {"a": 2}]
    assert [row.line for row in rows] == lines


def test_one_object_is_one_row(tmp_path: Path) -> None:
    record = '{"id": 1,\n "labels": ["x"], "spans": [{"a": 1}]}'
    assert read_rows(put(tmp_path, "x.json", record)) == [Row(1, json.loads(record), 1)]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.csv", 'a,b\r\n1,"x, ""y"""\r\n2,\r\n'),
        ("x.csv", '\ufeffa,b\n1,"x, ""y"""\n\n2,\n'),
        ("x.tsv", 'a\tb\n1\t"x, ""y"""\n2\t\n'),
        ("x.tab", 'a\tb\n1\t"x, ""y"""\n2\t\n'),
        ("x", 'a\tb\n1\t"x, ""y"""\n2\t\n'),
        ("x.txt", ' a ,b\n1,"x, ""y"""\n2,\n'),
    ],
)
def test_tables_and_empty_cells(tmp_path: Path, name: str, content: str) -> None:
    rows = read_rows(put(tmp_path, name, content))
    assert [row.data for row in rows] == [{"a": "1", "b": 'x, "y"'}, {"a": "2"}]


def test_a_row_of_a_table_is_found_at_its_first_line(tmp_path: Path) -> None:
    rows = read_rows(put(tmp_path, "x.csv", 'a\n"1\n2"\n3\n'))
    assert rows == [Row(2, {"a": "1\n2"}), Row(4, {"a": "3"})]


def test_line_separators_inside_strings_do_not_end_a_line(tmp_path: Path) -> None:
    line = json.dumps({"a": "x\u2028y\x85z"}, ensure_ascii=False)
    assert read_rows(put(tmp_path, "x.jsonl", line + "\n" + line)) == [
        Row(1, {"a": "x\u2028y\x85z"}),
        Row(2, {"a": "x\u2028y\x85z"}),
    ]


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
records = st.lists(st.dictionaries(st.text(), plain, max_size=4), min_size=1, max_size=5)


@given(records, st.sampled_from([None, 1]), st.booleans())
def test_json_reads_what_json_wrote(data: list[dict[str, object]], indent: int | None, ascii_only: bool) -> None:
    document = json.dumps(data, indent=indent, ensure_ascii=ascii_only)
    assert [row.data for row in parse_json("x", document).rows] == data
    wrapped = json.dumps({"meta": {"n": 1}, "data": data}, indent=indent, ensure_ascii=ascii_only)
    assert [row.data for row in parse_json("x", wrapped).rows] == data
    lines = "\n".join(json.dumps(row, ensure_ascii=ascii_only) for row in data)
    assert [row.data for row in parse_json_lines(lines).rows] == data


cells = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=5), st.sampled_from([",", "\t"]))
def test_tables_read_what_csv_wrote(data: list[tuple[str, str]], delimiter: str) -> None:
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter).writerows([("id", "a", "b"), *(("1", *row) for row in data)])
    found = parse_table("x", out.getvalue(), delimiter).rows
    assert [(row.data.get("a", ""), row.data.get("b", "")) for row in found] == data


BAD_LINES = [
    ('{"a": 1', "a line that breaks off"),
    ('{"a": "x', "a line that breaks off"),
    ('{"a": ', "a line that breaks off"),
    ('{"a": 1} {"a": 2}', "Extra data at column 10"),
    ("hello", "Expecting value at column 1"),
    ("[1]", r"\[1\]; expected a JSON object"),
    ("null", "None; expected a JSON object"),
    ('{"a": 1, "b": 2, "a": 3}', "the key 'a' twice"),
    ('{"x": {"a": 1, "a": 1}}', "the key 'a' twice"),
    ('{"a": NaN}', "NaN, which is not JSON"),
    ('{"a": -Infinity}', "-Infinity, which is not JSON"),
    ('{"a": 1e999}', "1e999, which is too large"),
    ('{"a": ' + "9" * 5000 + "}", "a number of 5000 digits"),
    (r'{"a": "\ud800"}', "half a surrogate pair"),
    ('{"a": ' * 100_000, "nested too deeply"),
]


@pytest.mark.parametrize(("line", "message"), BAD_LINES)
def test_bad_json_lines(tmp_path: Path, line: str, message: str) -> None:
    source = put(tmp_path, "x.jsonl", f'{{"a":1}}\n{line}\n{{"a":2}}\n')
    with pytest.raises(DataError, match=rf"x\.jsonl: 1 problem; nothing was loaded\n  line 2: found .*{message}"):
        read_rows(source)


@pytest.mark.parametrize(("line", "message"), BAD_LINES)
def test_bad_elements_of_a_document(tmp_path: Path, line: str, message: str) -> None:
    with pytest.raises(UserError, match=r"x\.json"):
        read_rows(put(tmp_path, "x.json", f'[{{"a":1}},\n{line},\n{{"a":2}}]'))


def test_a_surrogate_pair_is_a_character(tmp_path: Path) -> None:
    assert read_rows(put(tmp_path, "x.jsonl", r'{"a": "\ud83d\ude00"}'))[0].data == {"a": "😀"}


def test_every_bad_line_is_listed_up_to_twenty(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        read_rows(put(tmp_path, "x.jsonl", "?\n" * 23))
    assert len(caught.value.problems) == 23
    text = str(caught.value).splitlines()
    assert len(text) == 1 + 20 + 1
    assert "23 problems" in text[0]
    assert text[-1].strip() == "… and 3 more"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.jsonl", "", "is empty"),
        ("x.jsonl", "\ufeff \r\n\n", "is empty"),
        ("x.json", "[]", "holds no rows"),
        ("x.csv", "a,b\n", "holds no rows"),
        ("x.json", '{"data": []}', "holds no rows"),
        ("x.json", "3", "holds 3; it must hold a list"),
        ("x.json", '"text"', "holds 'text'; it must hold a list"),
        ("x.json", '{"data": [{}], "rows": []}', r"several lists \(data, rows\)"),
        ("x.json", '[{"a": 1},\n{"a"', "breaks off at line 2, column 5"),
        ("x.json", '[{"a": 1}', "breaks off at line 1, column 10"),
        ("x.json", '[{"a": 1}] x', r"line 1, column 12: not JSON \(Extra data\)"),
        ("x.json", '[{"a": 1} {"a": 2}]', r"column 11: not JSON \(Expecting ',' delimiter\)"),
        ("x.json", '[{"a": 1},]', "not JSON"),
        ("x.json", "{'a': 1}", "looks like a Python literal"),
        ("x.json", '[1, {"a": 1}]', "row 1: found 1; expected a JSON object"),
        ("x.csv", "a,b,a\n1,2,3\n", "the header has 'a' twice"),
        ("x.csv", 'a,b\n1,"2\n', "line 2: unexpected end of data"),
        ("x.csv", 'a,b\n1,"2" x\n', "line 2: ',' expected after"),
        ("x.csv", "a,b\n1\n1,2\n1,2,3\n", r"2 problems[^\n]*\n  line 2: found 1 cells .*\n  line 4: found 3 cells"),
        ("x.csv", b"a,b\n1,caf\xe9\n", "byte 0xe9 at offset 9 [(]line 2[)]"),
        ("x.csv", b"\xef\xbb\xbfa,b\n1,caf\xe9\n", "byte 0xe9 at offset 12 [(]line 2[)]"),
        ("x.csv", "a,b\n".encode("utf-16"), "UTF-16"),
        ("x.jsonl", b"\x1f\x8b\x08\x00", "gzip"),
        ("x.csv", b"PK\x03\x04....", "zip archive or spreadsheet"),
    ],
)
def test_bad_files(tmp_path: Path, name: str, content: str | bytes, message: str) -> None:
    with pytest.raises(UserError, match=message) as caught:
        read_rows(put(tmp_path, name, content))
    assert name in str(caught.value)


def test_missing_files(tmp_path: Path) -> None:
    put(tmp_path, "scenes.jsonl", "{}")
    with pytest.raises(UserError, match=r"no file .*scene\.jsonl; did you mean .*scenes\.jsonl\?"):
        read_rows(str(tmp_path / "scene.jsonl"))
    with pytest.raises(UserError, match="; check the path"):
        read_rows(str(tmp_path / "quite.jsonl"))
    with pytest.raises(UserError, match=r"its folder .* does not exist"):
        read_rows(str(tmp_path / "none" / "x.jsonl"))
    with pytest.raises(UserError, match="no file"):
        read_rows(str(tmp_path / "scenes.jsonl" / "x.jsonl"))
    with pytest.raises(UserError, match="is a directory; name one data file"):
        read_rows(str(tmp_path))
    with pytest.raises(UserError, match="not a file name"):
        read_rows("a\0b")


@pytest.mark.parametrize(
    ("raised", "expected", "message"),
    [(PermissionError(13, "no"), UserError, "may not be read"), (OSError(5, "I/O error"), WorldError, "I/O error")],
)
def test_unreadable_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, raised: OSError, expected: type[Exception], message: str
) -> None:
    # Raised by hand: the tests may run as root, whom permissions do not stop.
    def refuse(self: Path) -> bytes:
        raise raised

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(expected, match=message):
        read_rows(str(tmp_path / "x.jsonl"))


def test_fields_rename_columns(tmp_path: Path) -> None:
    source = put(tmp_path, "x.jsonl", '{"txt":"a","meta":{"key":1},"q.r":2,"rest":3}\n{"txt":"b"}\n')
    rows = read_rows(source, {"text": "txt", "id": "meta.key", "q": "q.r"})
    assert rows[0].data == {"text": "a", "meta": {"key": 1}, "id": 1, "q": 2, "rest": 3}
    assert rows[1].data == {"text": "b"}


def test_one_column_may_serve_two_fields_and_names_may_be_swapped(tmp_path: Path) -> None:
    source = put(tmp_path, "x.csv", "a,b\n1,2\n")
    assert read_rows(source, {"x": "a", "y": "a"})[0].data == {"x": "1", "y": "1", "b": "2"}
    assert read_rows(source, {"a": "b", "b": "a"})[0].data == {"a": "2", "b": "1"}


def test_a_column_that_does_not_exist(tmp_path: Path) -> None:
    source = put(tmp_path, "x.jsonl", '{"sentence":"a","meta":{"key":1}}\n')
    with pytest.raises(
        UserError, match=r"no column 'sentense' \(for text\); did you mean sentence\? It has: sentence, meta, meta\.key"
    ):
        read_rows(source, {"text": "sentense"})
    with pytest.raises(UserError, match=r"no column 'sentence\.x'"):
        read_rows(source, {"text": "sentence.x"})


def test_digest_is_of_the_bytes(tmp_path: Path) -> None:
    source = put(tmp_path, "x.jsonl", '\ufeff{"a":1}\r\n')
    assert source_digest(source) == sha256(b'\xef\xbb\xbf{"a":1}\r\n').hexdigest()
    with pytest.raises(UserError, match="no file"):
        source_digest(str(tmp_path / "none"))


def test_texts_by_id_or_line_or_number(tmp_path: Path) -> None:
    by_id = put(tmp_path, "a.jsonl", '{"id":7,"m":{"t":"x"}}\n{"id":"b","m":{"t":"y"}}\n')
    assert read_texts(by_id, "m.t") == {"7": "x", "b": "y"}
    twice = put(tmp_path, "b.jsonl", '{"id":7,"t":"x"}\n\n{"id":7,"t":"y"}\n')
    assert read_texts(twice, "t") == {"line 1": "x", "line 3": "y"}
    document = put(tmp_path, "c.json", '[{"t":"x"},{"t":"y"},\n\n{"t":"z"},\n{"t":"z"}]')
    assert read_texts(document, "t") == {"row 1": "x", "row 2": "y", "row 3": "z", "row 4": "z"}


def test_texts_that_are_not_there(tmp_path: Path) -> None:
    source = put(tmp_path, "x.jsonl", '{"t":"x"}\n{"t":3}\n{"u":"y"}\n')
    with pytest.raises(DataError) as caught:
        read_texts(source, "t")
    assert [(p.line, p.found) for p in caught.value.problems] == [(2, "3"), (3, "nothing")]
    with pytest.raises(UserError, match=r"no column 'text'; .*It has: t, u"):
        read_texts(source, "text")


def test_digest_of_a_folder_is_of_paths_and_contents(tmp_path: Path) -> None:
    inner = tmp_path / "counterfactual" / "relevance.bodily motives"
    inner.mkdir(parents=True)
    (inner / "7.json").write_text("[]", encoding="utf-8")
    (tmp_path / ".hidden.json").write_text("{}", encoding="utf-8")
    (tmp_path / "notes.txt").write_text("x", encoding="utf-8")
    name = "counterfactual/relevance.bodily motives/7.json"
    assert json_files(str(tmp_path)) == [name]
    line = f"{name}\0{sha256(b'[]').hexdigest()}\n"
    assert source_digest(str(tmp_path)) == sha256(line.encode()).hexdigest()
    (inner / "7.json").rename(inner / "8.json")
    assert source_digest(str(tmp_path)) != sha256(line.encode()).hexdigest()


def test_folder_without_json_has_no_digest(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="folder without any"):
        source_digest(str(tmp_path))


def test_rows_of_a_file_in_a_folder_name_it(tmp_path: Path) -> None:
    (tmp_path / "a b.json").write_text('[{"x": 1},\n 5]', encoding="utf-8")
    rows, problems = read_json_file(str(tmp_path), "a b.json")
    assert [(row.file, row.place) for row in rows] == [("a b.json", "a b.json")]
    assert [str(problem) for problem in problems] == ["a b.json, row 2: found 5; expected a JSON object in braces"]
