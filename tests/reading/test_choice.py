"""Replies to a single choice, with the option a careful person would say was chosen."""

from __future__ import annotations

from pathlib import Path

import pytest

from affectlab.reading import Outcome, flags, read_choice, read_label

OPTIONS = {"A": "joy", "B": "anger", "C": "fear", "D": "relief"}
TWELVE = {chr(65 + i): f"opt{i}" for i in range(12)}


def replies(name: str) -> list[str]:
    """The replies of a table, one a line; ⏎ stands for a line end."""
    table = (Path(__file__).parent / "replies" / f"{name}.txt").read_text(encoding="utf-8")
    return [line.replace("⏎", "\n") for line in table.strip("\n").split("\n")]


BLOCKS_B = [
    "B\n",
    "B\r\n",
    "\ufeffB",
    "B\u200b",
    "\u200eB\u200f",
    "\u202aB\u202c",
    "\u2066B\u2069",
    "\u00a0B\u00a0",
    "\u3000B",
    "B\x00",
    "B\n\nExplanation: A would need a reward, and C a threat.",
    "B\n\nThe man was insulted.",
    "B\n\nI think A and C are less fitting.",
    "Answer: B\n\nAnswer: B",
    "Answer:\nB",
    "Answer:\n\n**B**",
    "### Answer\n\nB",
    "## Final answer: B",
    "Answer\n------\nB",
    "```\nB\n```",
    "```text\nB\n```",
    "```\nAnswer: B\n```",
    "~~~\nB\n~~~",
    "Sure! Here is my answer:\n\nB",
    "The man was insulted.\nB",
    "The man was insulted.\n\nB) anger",
    "The man was insulted. He is shouting.\nTherefore the answer is\nB",
    "A) joy\nB) anger\nC) fear\nD) relief\n\nAnswer: B",
    "A. joy\nB. anger\nC. fear\nD. relief\n\nThe correct option is B.",
    "A: too light.\nC: there is no threat.\nAnswer: B",
    "A) joy - no.\nB) anger - yes.\nC) fear - no.\n\nSo the answer is B.",
    "Answer: A\nWait, he is shouting.\nAnswer: B",
    "The answer is A. Hmm, no. The answer is B.",
    "Answer: A. Correction: B",
    "Step 1: who is it? The driver.\nStep 2: what happened? An insult.\nFinal answer: B",
    "Reasoning: A man was insulted.\nAnswer: B\nConfidence: 90%",
    "Answer: B\nConfidence: high",
    "Answer: B\nReason: A would be wrong",
    "| Question | Answer |\n|---|---|\n| emotion | B |",
    "<think>A?</think>B",
    "<think>\nANSWER: A\n</think>\n\nANSWER: B",
    "<think></think>B",
    "<think>\n\n</think>\n\nB",
    "<think>a <think>b</think> c</think>B",
    "<think>\n<think>\nA\n</think>\nB",
    "Perhaps A. Let me see. </think>B",
    "A</think>\nB",
    "<thinking>Answer: A</thinking>Answer: B",
    "<reasoning>\nAnswer: A\n</reasoning>\n<answer>\nB\n</answer>",
    "<thought>A</thought>B",
    "<THINK>A</THINK>B",
    "< think >A</ think >B",
    "＜think＞A＜/think＞B",
    "◁think▷A◁/think▷B",
    "[THINK]A[/THINK]B",
    "<seed:think>A</seed:think>B",
    '<think type="short">A</think>B',
    "<|channel|>analysis<|message|>A?<|end|><|start|>assistant<|channel|>final<|message|>B<|return|>",
    "analysisWe need a letter. A?assistantfinalB",
    "<|begin_of_thought|>A<|end_of_thought|><|begin_of_solution|>B<|end_of_solution|>",
    "<|START_THINKING|>A<|END_THINKING|>B",
    "<|begin_of_box|>B<|end_of_box|>",
    "B<think>was that right? A?</think>",
    "B</s>",
    "B<|im_end|>",
    "B<|eot_id|>\n<|start_header_id|>user",
    "B<|im_end|>\n<|im_start|>user\nA?",
    "<|im_start|>assistant\nB",
    '{"answer": "B"}',
    "{'answer': 'B'}",
    '```json\n{"answer": "B"}\n```',
    '{"choice": "B", "reason": "he was insulted"}',
    '{"reason": "A would need a reward", "answer": "B"}',
]


@pytest.mark.parametrize("text", [*replies("choose_b"), *BLOCKS_B])
def test_chooses_b(text: str) -> None:
    reading = read_choice(text, OPTIONS)
    assert (reading.outcome, reading.value) == (Outcome.OK, "B"), reading


@pytest.mark.parametrize("text", replies("ambiguous"))
def test_several_answers_are_ambiguous(text: str) -> None:
    assert read_choice(text, OPTIONS).outcome is Outcome.AMBIGUOUS


@pytest.mark.parametrize("text", ["B) joy", "joy (B)", "Answer: B. joy", "**B** joy"])
def test_letter_and_text_that_disagree_are_flagged(text: str) -> None:
    assert flags.LETTER_TEXT_CONFLICT in read_choice(text, OPTIONS).flags


@pytest.mark.parametrize("text", replies("unparseable"))
def test_no_letter_is_read_out_of_words(text: str) -> None:
    options = {key: OPTIONS[key] for key in "BCD"} if text == "A" else OPTIONS
    assert read_choice(text, options).outcome is Outcome.UNPARSEABLE


@pytest.mark.parametrize(
    "text",
    [
        "Answer: Let's think it through first",
        "I think so",
        "I",
        "A child laughs.",
        "Let's see",
        "I'm lost",
        "I, too, wonder",
    ],
)
def test_words_are_not_letters_of_twelve_options(text: str) -> None:
    wanted = Outcome.OK if text == "I" else Outcome.UNPARSEABLE
    assert read_choice(text, TWELVE).outcome is wanted


@pytest.mark.parametrize(
    "text", ["E", "E.", "Answer: E", "(E)", "\\boxed{F}", "选E", "答案是E", "surprise", "Z) surprise"]
)
def test_answers_outside_the_options_are_flagged(text: str) -> None:
    reading = read_choice(text, OPTIONS)
    assert reading.outcome is Outcome.UNPARSEABLE
    assert flags.OUT_OF_SPACE in reading.flags


@pytest.mark.parametrize("text", replies("refusals"))
def test_refusals_are_their_own_outcome(text: str) -> None:
    assert read_choice(text, OPTIONS).outcome is Outcome.REFUSAL
    assert read_choice(text, TWELVE).outcome is Outcome.REFUSAL


@pytest.mark.parametrize(
    "text", [None, "", " ", "\n", "\r\n", "\t", "\u200b", "\ufeff", "\u00a0", "<think>B</think>", "<think></think>\n"]
)
def test_nothing_said_is_empty(text: str | None) -> None:
    assert read_choice(text, OPTIONS).outcome is Outcome.EMPTY


@pytest.mark.parametrize(
    ("text", "finish"),
    [
        ("<think>Option C looks right because the woman", "stop"),
        ("<think>ANSWER: A", "stop"),
        ("<thinking>B", "stop"),
        ("<think>a</think><think>B", "stop"),
        ("<|channel|>analysis<|message|>Maybe A. ANSWER: B", "stop"),
        ("", "length"),
        ("<think>B</think>", "length"),
        ("<think>Option", "length"),
        ("The answer is", "length"),
        ("Let us look at A first. The man", "length"),
        ("A) joy - there is no reward", "length"),
        ("It could be A, or maybe", "length"),
        ("It might be B", "length"),
    ],
)
def test_cut_off_before_an_answer(text: str, finish: str) -> None:
    assert read_choice(text, OPTIONS, finish=finish).outcome is Outcome.TRUNCATED


@pytest.mark.parametrize(
    "text",
    [
        "B",
        "Answer: B",
        "ANSWER: B\nBecause the man was",
        "B\n\nExplanation: the man",
        "B) anger\n\nThe",
        "The answer is B. He",
    ],
)
def test_a_complete_answer_survives_the_limit(text: str) -> None:
    reading = read_choice(text, OPTIONS, finish="length")
    assert (reading.value, reading.flags) == ("B", (flags.AT_LIMIT,))


def test_a_cut_name_that_could_go_on_is_no_answer() -> None:
    labels = {"joy": (), "joyful": ()}
    assert read_label("Answer: joy", labels, finish="length").outcome is Outcome.TRUNCATED
    assert read_label("Answer: joyful", labels, finish="length").value == "joyful"


def test_withheld_reply_is_a_refusal() -> None:
    assert read_choice(None, OPTIONS, finish="filter").outcome is Outcome.REFUSAL


def test_two_answer_lines_are_noted() -> None:
    reading = read_choice("ANSWER: A\nWait.\nANSWER: B", OPTIONS)
    assert (reading.value, reading.flags) == ("B", (flags.SELF_CORRECTED,))
    assert read_choice("ANSWER: B\nANSWER: B", OPTIONS).flags == ()


def test_a_hedged_answer_is_not_corrected_by_the_final_one() -> None:
    assert read_choice("The answer might be A. The answer is B.", OPTIONS).flags == ()
    assert read_choice("The answer is B. The answer could be A, I admit.", OPTIONS).value == "B"


def test_evidence_is_where_the_answer_stands() -> None:
    assert read_choice("I am sure. The answer is B) anger.", OPTIONS).evidence == "B) anger"


def test_labels_inside_labels() -> None:
    options = {"A": "joy", "B": "joyful surprise", "C": "surprise"}
    assert read_choice("joyful surprise", options).value == "B"
    assert read_choice("The answer is surprise", options).value == "C"


def test_option_texts_that_begin_with_an_article() -> None:
    options = {"A": "a sense of relief", "B": "a fear of falling", "C": "I do not know"}
    assert read_choice("a fear of falling", options).value == "B"
    assert read_choice("I do not know", options).value == "C"
    assert read_choice("Answer: a sense of relief.", options).value == "A"


def test_numbers_as_keys() -> None:
    options = {"1": "never", "2": "sometimes", "3": "always"}
    for text in (
        "2",
        "2.",
        "(2)",
        "Answer: 2",
        "2. sometimes",
        "2 - sometimes",
        "sometimes",
        "答案：2",
        "\\boxed{2}",
        "２",
    ):
        assert read_choice(text, options).value == "2", text
    for text in ("2.5", "12", "-2", "2 people were there", "20%"):
        assert read_choice(text, options).outcome is Outcome.UNPARSEABLE, text


def test_chinese_option_texts() -> None:
    options = {"A": "喜悦", "B": "愤怒", "C": "恐惧"}
    for text in (
        "愤怒",
        "愤怒。",
        "答案是愤怒",
        "答案：愤怒。",
        "B. 愤怒",
        "B、愤怒",
        "Ｂ：愤怒",
        "选择B（愤怒）",
        "我认为是愤怒。",
        "「愤怒」",
    ):
        assert read_choice(text, options).value == "B", text
    assert read_choice("B. 喜悦", options).outcome is Outcome.AMBIGUOUS


def test_aliases_name_options() -> None:
    assert read_choice("rage", OPTIONS, aliases={"rage": "B"}).value == "B"


def test_a_name_that_two_options_share_is_no_answer() -> None:
    assert read_choice("joy", {"A": "joy", "B": "Joy"}).outcome is Outcome.UNPARSEABLE
    assert read_choice("B", {"A": "joy", "B": "Joy"}).value == "B"


def test_labels_by_name_and_alias() -> None:
    labels = {"irony": ("Irony", "反讽"), "humor": ("Humor", "humour", "幽默")}
    for text in ("Irony", "irony.", "反讽", "The intent is Irony.", "意图：反讽", "This is irony.", "**Irony**"):
        assert read_label(text, labels).value == "irony", text
    assert read_label("Humour", labels).value == "humor"
    assert read_label("Sarcasm", labels).flags == (flags.OUT_OF_SPACE,)
    assert read_label("Irony or humor", labels).outcome is Outcome.AMBIGUOUS


@pytest.mark.parametrize("joint", [" ", "_", "-", "\u2013"])
def test_words_of_a_label_may_be_joined_by_any_of_the_usual_marks(joint: str) -> None:
    labels = {"veiled_negative": ("Veiled Negative",), "negative": ("Negative",), "positive": ("Positive",)}
    for reply in (f"veiled{joint}negative", f"Stance: Veiled{joint}Negative.", f"The stance is veiled{joint}negative."):
        assert read_label(reply, labels).value == "veiled_negative", reply
    # A mark does not make a label out of a word with another before it.
    assert read_label(f"veiled{joint}positive", labels).value is None
    assert read_label(f"not veiled{joint}negative", labels).value is None
