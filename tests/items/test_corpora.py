from __future__ import annotations

import pytest

from affectlab.errors import UserError
from affectlab.items import corpora as c


def test_goemotions_quoting() -> None:
    line = '"Great, ""thanks"""\t17,15\ted00q6i\r\n'
    assert c.goemotions_row(line) == c.Labelled('"Great, ""thanks"""', (15, 17), "ed00q6i")
    assert c.goemotions_row(line, "csv") == c.Labelled('Great, "thanks"', (15, 17), "ed00q6i")


def test_goemotions_labels_are_always_several_numbers() -> None:
    assert c.goemotions_row("hello\t27\ta1").labels == (27,)
    assert c.goemotions_row("hello\t27,0\ta1").labels == (0, 27)


@pytest.mark.parametrize(
    "line", ["hello\t27", "hello\t28\ta", "hello\t\ta", "hello\tx\ta", "hello\t-1\ta", "a\tb\t1\tc", ""]
)
def test_wrong_goemotions_lines(line: str) -> None:
    with pytest.raises(UserError, match=r"GoEmotions line has 3 cells|not numbers from 0 to 27"):
        c.goemotions_row(line)


def test_xed() -> None:
    assert c.xed_row("I knew it .\t8, 1\r\n") == c.Labelled("I knew it .", ("anger", "trust"))
    assert c.xed_row("no label\t\n").labels is None
    assert c.xed_row("a\tb\t3") == c.Labelled("a\tb", ("disgust",))
    assert c.xed_neutral_row("9\tYeah .\t\t\n") == c.Labelled("Yeah .", ("neutral",))
    for line in ("no tab", "x\t9", "x\t0", "x\t1;2"):
        with pytest.raises(UserError):
            c.xed_row(line)
    with pytest.raises(UserError, match="begins with 9"):
        c.xed_neutral_row("Yeah .\t9")


def test_indicators_keep_absent_apart_from_not_annotated() -> None:
    row = {"joy": 1, "fear": "0", "anger": None, "sadness": "", "trust": "2"}
    read = c.read_indicators(row, ("joy", "fear", "anger", "sadness", "trust", "disgust"))
    assert read == c.Annotation(("joy", "trust"), ("fear",), ("anger", "sadness", "disgust"))
    assert c.read_indicators({"joy": 0}, ("joy",)) == c.Annotation((), ("joy",), ())


@pytest.mark.parametrize("cell", ["yes", -1, "nan", [1]])
def test_wrong_indicators(cell: object) -> None:
    with pytest.raises(UserError, match="column joy: found"):
        c.read_indicators({"joy": cell}, ("joy",))


@pytest.mark.parametrize(
    ("votes", "label"),
    [
        ("2111000", "non-neutral"),
        ("5000000", "neutral"),
        ("0300020", "joy"),
        ("0000203", "disgust"),
        ("0220001", "non-neutral"),
    ],
)
def test_emotionx_majority(votes: str, label: str) -> None:
    assert c.emotionx_majority(votes) == label


@pytest.mark.parametrize("votes", ["", "500000", "50000000", "2111001", "abcdefg", "５000000"])
def test_wrong_votes(votes: str) -> None:
    with pytest.raises(UserError, match="EmotionX votes"):
        c.emotionx_majority(votes)


def test_parallel_lines_with_or_without_a_final_newline() -> None:
    expected = [("a ", "0"), ("", "3")]
    assert c.parallel_lines("a \n\n", "0\n3\n") == expected
    assert c.parallel_lines("a \r\n\r\n", "0\n3") == expected
    with pytest.raises(UserError, match="2 lines of text and 1 of labels"):
        c.parallel_lines("a\nb\n", "0\n")


def test_small_rules() -> None:
    assert c.split_key("dev", 0, 12) == "dev/0/12"
    assert c.preceding("abcd", 0, 2) == ()
    assert c.preceding("abcd", 1, 2) == ("a",)
    assert c.preceding("abcd", 3, 2) == ("b", "c")
    assert c.absent_side_files({"video": None, "audio": "x.wav", "text": ""}) == ["video"]
    assert c.unscorable(["a", "", " \n", "b"]) == [1, 2]


def test_literals_run_no_code() -> None:
    assert c.parse_literal(" {'units': {'Marine': 3}, 'x': None}\n") == {"units": {"Marine": 3}, "x": None}
    for text in ("__import__('os')", "{'a': ", "", "[" * 100_000):
        with pytest.raises(UserError, match="neither JSON nor a Python literal"):
            c.parse_literal(text)


def test_phase_orders() -> None:
    phase = {"orders": {"FRANCE": None, "ITALY": [], "RUSSIA": ["A MOS - SEV"]}}
    assert c.phase_orders(phase) == {"FRANCE": None, "ITALY": (), "RUSSIA": ("A MOS - SEV",)}
    assert c.phase_orders({"orders": None}) == {}
    assert c.phase_orders({}) == {}
