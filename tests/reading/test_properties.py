"""What holds for every reply."""

from __future__ import annotations

import time
import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from affectlab.reading import (
    NumberRange,
    Outcome,
    Reading,
    Scale,
    flags,
    label_groups,
    prepare,
    read_agents,
    read_choice,
    read_json,
    read_label_set,
    read_likert,
    read_number,
    read_text,
    read_yes_no,
)

OPTIONS = {"A": "joy", "B": "anger", "C": "fear", "D": "relief"}
SCALE = Scale.of(["Strongly disagree", "Somewhat disagree", "Somewhat agree", "Strongly agree"])
GROUPS = label_groups(["Glad, happy, joyful", "Calm, peaceful, relaxed", "Sad, low", "Proud"])
Reader = Callable[["str | None", str], list[Reading]]
READERS: dict[str, Reader] = {
    "choice": lambda text, finish: [read_choice(text, OPTIONS, finish=finish)],
    "agents": lambda text, finish: list(read_agents(text, {"A": OPTIONS, "B": OPTIONS}, finish=finish).values()),
    "named": lambda text, finish: list(
        read_agents(text, {"A": OPTIONS, "B": OPTIONS}, names={"A": ["aa", ""], "B": ["b"]}, finish=finish).values()
    ),
    "json": lambda text, finish: list(
        read_json(text, {"intent": {"irony": ("Irony",)}, "why": None}, finish=finish).values()
    ),
    "likert": lambda text, finish: [read_likert(text, SCALE, finish=finish)],
    "label set": lambda text, finish: [read_label_set(text, GROUPS, finish=finish)],
    "number": lambda text, finish: [read_number(text, NumberRange(0, 10), finish=finish)],
    "yes or no": lambda text, finish: [read_yes_no(text, finish=finish)],
    "text": lambda text, finish: [read_text(text, finish=finish)],
}
_PIECES = """
A B C E I a b AGENT A: B: answer Answer: the is not but or and , ; : . ( ) [ ] { } < > " ' ` ``` ** _ | \\boxed{ $ ~~
<think> </think> ◁think▷ <|channel|> final <|message|> <answer> </answer> joy anger fear 选 答案 是 不 。 ： 1 2 3.5 -4
10 ten yes no Somewhat agree Strongly disagree Glad, happy, joyful None Proud intent Irony null true // /* # I'm sorry
cannot help N/A 😀
"""
PIECES = st.sampled_from([*_PIECES.split(), "\n", "\r\n", "\u200b", "\u00a0"])
REPLIES = st.one_of(
    st.none(),
    st.text(max_size=200),
    st.lists(PIECES, max_size=25).map(" ".join),
    st.lists(PIECES, max_size=25).map("".join),
)
FINISHES = st.sampled_from(["stop", "length", "filter", "scored"])


@pytest.mark.parametrize("name", READERS)
@settings(max_examples=300, deadline=None)
@given(text=REPLIES, finish=FINISHES)
def test_nothing_raises_and_only_ok_has_a_value(name: str, text: str | None, finish: str) -> None:
    for reading in READERS[name](text, finish):
        assert (reading.value is not None) == reading.ok
        assert set(reading.flags) <= flags.ALL
        assert len(set(reading.flags)) == len(reading.flags)
        if not reading.ok and not (text or "").strip():
            assert reading.outcome in (Outcome.EMPTY, Outcome.TRUNCATED, Outcome.REFUSAL)


STATED = st.sampled_from(
    [
        "B",
        "(B)",
        "B) anger",
        "Answer: B",
        "anger",
        "The answer is B.",
        "So: B",
        "答案：B",
        "选B",
        "It is either A or B",
        "ABCD",
        "E",
        "B) joy",
        "None of the above",
        "A man",
        "I can't help with that.",
    ]
)
WRAPS: dict[str, Callable[[str], str]] = {
    "fence": lambda text: f"```\n{text}\n```",
    "fence with a language": lambda text: f"```text\n{text}\n```",
    "bold": lambda text: f"**{text}**",
    "italic": lambda text: f"*{text}*",
    "white space": lambda text: f"\n \t{text} \n\n",
    "CRLF": lambda text: f"\r\n{text}\r\n",
    "no-break space": lambda text: f"\u00a0{text}\u00a0",
    "zero width": lambda text: f"\ufeff{text}\u200b",
    "bidi marks": lambda text: f"\u202a{text}\u202c",
    "thinking": lambda text: f"<think>ANSWER: A</think>{text}",
    "stray closing tag": lambda text: f"ANSWER: C</think>\n{text}",
    "quote": lambda text: f"> {text}",
    "bullet": lambda text: f"- {text}",
    "heading": lambda text: f"## {text}",
    "answer tag": lambda text: f"<answer>{text}</answer>",
    "bold html": lambda text: f"<b>{text}</b>",
    "end of turn": lambda text: f"{text}<|im_end|>",
    "full width": lambda text: "".join(chr(ord(c) + 0xFEE0) if c.isascii() and c.isalnum() else c for c in text),
}


@pytest.mark.parametrize("wrap", WRAPS)
@given(text=STATED)
def test_wrapping_changes_nothing(wrap: str, text: str) -> None:
    plain, wrapped = read_choice(text, OPTIONS), read_choice(WRAPS[wrap](text), OPTIONS)
    assert (wrapped.outcome, wrapped.value) == (plain.outcome, plain.value)


@given(
    options=st.lists(
        st.sampled_from(["joy", "pride", "relief", "anger", "fear", "disgust", "喜悦", "愤怒"]),
        min_size=2,
        max_size=6,
        unique=True,
    ),
    data=st.data(),
)
def test_every_option_can_be_chosen_by_letter_and_by_text(options: list[str], data: st.DataObject) -> None:
    shown = {chr(65 + i): option for i, option in enumerate(options)}
    key = data.draw(st.sampled_from(list(shown)))
    template = data.draw(
        st.sampled_from(["{}", "{}.", "Answer: {}", "**{}**", "答案：{}", "The answer is {}.", "```\n{}\n```"])
    )
    for said in (key, shown[key], f"{key}) {shown[key]}", f"{shown[key]} ({key})"):
        assert read_choice(template.format(said), shown).value == key


@given(text=st.text(max_size=300))
def test_preparing_is_idempotent_on_its_text(text: str) -> None:
    once = prepare(text).text
    if "think" not in once.lower() and "<" not in once:
        assert prepare(once).text == once
    assert unicodedata.is_normalized("NFKC", once) or not once.isascii()


GROWING: dict[str, Callable[[int], str]] = {
    "one letter": lambda n: "B" * n,
    "letters": lambda n: "B " * (n // 2),
    "lines": lambda n: "A\n" * (n // 2),
    "answers": lambda n: "Answer: B\n" * (n // 10),
    "links": lambda n: "is B " * (n // 5),
    "prose": lambda n: "The man is not sure, but it is either A or B. " * (n // 46),
    "spaces": lambda n: " " * n + "B",
    "spaces inside": lambda n: "A" + " " * n + "B",
    "dashes": lambda n: "-" * n + "B",
    "pipes": lambda n: "| " * (n // 2) + "B",
    "stars": lambda n: "*" * n + "B",
    "back-ticks": lambda n: "`" * n + "B",
    "braces": lambda n: "{" * n,
    "brackets": lambda n: "[" * n,
    "quotes": lambda n: "{" + '"' * n,
    "backslashes": lambda n: '{"' + "\\" * n,
    "boxes": lambda n: "\\boxed{" * (n // 7),
    "opening tags": lambda n: "<think>" * (n // 7),
    "closing tags": lambda n: "</think>" * (n // 8) + "B",
    "angles": lambda n: "<" * n,
    "angle words": lambda n: "<answer " * (n // 8),
    "combining marks": lambda n: "B" + "\u0315\u0300" * (n // 2),
    "commas": lambda n: "1," * (n // 2),
    "digits": lambda n: "1" * n,
    "numbers": lambda n: "so 5 " * (n // 5),
    "pairs": lambda n: '{"intent": ' * (n // 11),
    "objects": lambda n: '{"intent": "x"} ' * (n // 16),
    "mended objects": lambda n: "{'intent': 'x',} " * (n // 17),
    "agents": lambda n: "AGENT A: C\nAGENT B: A\n" * (n // 22),
    "names": lambda n: "aa: b " * (n // 6),
    "agents in a row": lambda n: "agent a and " * (n // 12),
    "headings of both": lambda n: "Agent A and Agent B: C, " * (n // 24),
    "second thoughts": lambda n: "wait, no, A. joy and " * (n // 21),
    "repeats": lambda n: "B " * (n // 2),
    "broken lines": lambda n: "strongly\n" * (n // 9),
    "Chinese": lambda n: "我认为他很生气，不是A。" * (n // 12),
    "labels": lambda n: "Glad, happy, joyful; " * (n // 21),
    "unknown labels": lambda n: "answer are none; x " * (n // 19),
    "apologies": lambda n: "I'm sorry, but I would " * (n // 23),
    "yes": lambda n: "yes, no, " * (n // 9),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", GROWING)
def test_time_grows_with_the_length_and_no_faster(kind: str) -> None:
    """One text of 20 kB may take as long as ten of 2 kB, within a factor; quadratic reading would take ten times that.

    Both sides do the same amount of work, in CPU time, and a factor that is too large is measured again: a busy
    machine makes now this side slow and now that one, quadratic reading always the same.
    """
    small, large = GROWING[kind](2_000), GROWING[kind](20_000)
    for name, reader in READERS.items():
        reader(small, "stop")
        factors = (_seconds(reader, large, 1) / _seconds(reader, small, 10) for _ in range(4))
        assert any(factor < 4 for factor in factors), f"{name}: one text of 20 kB is slower than ten of 2 kB"


def _seconds(reader: Reader, text: str, times: int) -> float:
    start = time.process_time()
    for _ in range(times):
        reader(text, "stop")
    return max(time.process_time() - start, 0.01)
