"""Replies in JSON."""

from __future__ import annotations

import json

import pytest

from affectlab.labels.catalogue import load
from affectlab.reading import Outcome, Reading, flags, read_json

INTENTS: dict[str, tuple[str, ...]] = {
    "irony": ("Irony", "反讽"),
    "humor": ("Humor", "幽默"),
    "empathy": ("Empathy",),
    "politeness": ("Politeness",),
}
STANCES: dict[str, tuple[str, ...]] = {
    "positive": ("Positive", "积极"),
    "formulaic_positive": ("Formulaic Positive", "程式化积极"),
    "neutral": ("Neutral", "中性"),
    "sarcastic_negative": ("Sarcastic Negative", "讽刺消极"),
    "veiled_negative": ("Veiled Negative", "含蓄消极"),
    "negative": ("Negative", "消极"),
}
FIELDS = {"pragmatic_intent": INTENTS}

IRONY = [
    '{"pragmatic_intent": "Irony"}',
    '{"pragmatic_intent": "irony"}',
    '{"pragmatic_intent": " Irony "}',
    '{"pragmatic_intent": "IRONY."}',
    '{"pragmatic_intent": "反讽"}',
    '{"Pragmatic_Intent": "Irony"}',
    '{"pragmaticIntent": "Irony"}',
    '{"pragmatic intent": "Irony"}',
    '{"pragmatic-intent": "Irony"}',
    '{\n  "pragmatic_intent": "Irony"\n}',
    '```json\n{"pragmatic_intent": "Irony"}\n```',
    '```\n{"pragmatic_intent": "Irony"}\n```',
    '```JSON\r\n{"pragmatic_intent": "Irony"}\r\n```',
    '[{"pragmatic_intent": "Irony"}]',
    '{"pragmatic_intent": ["Irony"]}',
    '[{"pragmatic_intent": "Irony"},]',
    '{"result": {"pragmatic_intent": "Irony"}}',
    '{"pragmatic_intent": {"label": "Irony", "confidence": 0.9}}',
    '{"pragmatic_intent": "Irony", "why": "she says {the opposite}"}',
    '{"why": "he wrote ```ok``` twice", "pragmatic_intent": "Irony"}',
    '{"why": "not \\"Humor\\"", "pragmatic_intent": "Irony"}',
    '{"why": "line\nbreak", "pragmatic_intent": "Irony"}',
    'Sure! Here it is: {"pragmatic_intent": "Irony"} I hope this helps.',
    'Text with a { brace. {"pragmatic_intent": "Irony"}',
    '{"pragmatic_intent": "<intent_name>"}\nFinal: {"pragmatic_intent": "Irony"}',
    '{"pragmatic_intent": "Irony"}\n{"pragmatic_intent": "<intent_name>"}',
    '{"pragmatic_intent": "Irony | Humor | Empathy | Politeness"}\n{"pragmatic_intent": "Irony"}',
    '<think>{"pragmatic_intent": "Humor"}</think>{"pragmatic_intent": "Irony"}',
    '{"pragmatic_intent": "Humor"}</think>\n{"pragmatic_intent": "Irony"}',
    '<answer>{"pragmatic_intent": "Irony"}</answer>',
    '\ufeff{"pragmatic_intent": "Irony"}',
    '｛"pragmatic_intent"："Irony"｝',
    '“{"pragmatic_intent": "Irony"}”',
]

BENT = [
    '{"pragmatic_intent": "Irony",}',
    "{'pragmatic_intent': 'Irony'}",
    "{'pragmatic_intent': 'Irony', 'sure': True, 'other': None}",
    '{pragmatic_intent: "Irony"}',
    '{"pragmatic_intent": "Irony" // the tone\n}',
    '{"pragmatic_intent": "Irony" /* the tone */}',
    '{"pragmatic_intent": "Irony", "sure": True}',
    "{“pragmatic_intent”: “Irony”,}",
    '{"pragmatic_intent": "Irony"',
    '{"pragmatic_intent": "Irony", "why": "because she',
    '```json\n{"pragmatic_intent": "Irony"\n```',
    '{"why": "he said "fine" to her", "pragmatic_intent": "Irony"}',
    '{"pragmatic_intent": "Irony" "why": "tone"}',
]


@pytest.mark.parametrize("text", IRONY)
def test_irony(text: str) -> None:
    reading = read_json(text, FIELDS)["pragmatic_intent"]
    assert (reading.outcome, reading.value) == (Outcome.OK, "irony"), reading


@pytest.mark.parametrize("text", BENT)
def test_bent_json_is_mended_and_noted(text: str) -> None:
    reading = read_json(text, FIELDS)["pragmatic_intent"]
    assert (reading.outcome, reading.value) == (Outcome.OK, "irony"), reading
    assert flags.REPAIRED in reading.flags


@pytest.mark.parametrize(
    "text",
    [
        '"pragmatic_intent": "Irony"',
        "pragmatic_intent: Irony",
        "**Pragmatic intent:** Irony",
        "- pragmatic_intent: Irony",
        "Irony",
        "The intent is Irony.",
    ],
)
def test_answers_outside_json_are_noted(text: str) -> None:
    reading = read_json(text, FIELDS)["pragmatic_intent"]
    assert (reading.value, flags.NOT_JSON in reading.flags) == ("irony", True), reading


@pytest.mark.parametrize(
    "text",
    [
        '{"pragmatic_intent": "Sarcasm"}',
        '{"pragmatic_intent": "Iron"}',
        '{"pragmatic_intent": 3}',
        '{"pragmatic_intent": true}',
        '{"pragmatic_intent": ["Sarcasm"]}',
        '{"pragmatic_intent": "not sure"}',
    ],
)
def test_values_outside_the_labels_are_flagged(text: str) -> None:
    reading = read_json(text, FIELDS)["pragmatic_intent"]
    assert reading.outcome is Outcome.UNPARSEABLE
    assert flags.OUT_OF_SPACE in reading.flags


@pytest.mark.parametrize(
    ("text", "finish", "outcome"),
    [
        (None, "stop", Outcome.EMPTY),
        ("", "stop", Outcome.EMPTY),
        ("{}", "stop", Outcome.UNPARSEABLE),
        ("[]", "stop", Outcome.UNPARSEABLE),
        ('{"intent_of_speaker": "Irony"}', "stop", Outcome.UNPARSEABLE),
        ('{"pragmatic_intent": null}', "stop", Outcome.UNPARSEABLE),
        ('{"pragmatic_intent": ""}', "stop", Outcome.UNPARSEABLE),
        ('{"pragmatic_intent": []}', "stop", Outcome.UNPARSEABLE),
        ('{"pragmatic_intent": "<intent_name>"}', "stop", Outcome.UNPARSEABLE),
        ('{"pragmatic_intent": ["Irony", "Humor"]}', "stop", Outcome.AMBIGUOUS),
        ('{"pragmatic_intent": "Irony or Humor"}', "stop", Outcome.AMBIGUOUS),
        ('{"pragmatic_intent": "Iro', "stop", Outcome.TRUNCATED),
        ('{"pragmatic_intent": "Iro', "length", Outcome.TRUNCATED),
        ('{"why": "the tone is Irony but', "length", Outcome.TRUNCATED),
        ('<think>{"pragmatic_intent": "Irony"}', "stop", Outcome.TRUNCATED),
        ("I'm sorry, but I can't help with that.", "stop", Outcome.REFUSAL),
        ("抱歉，我无法回答。", "stop", Outcome.REFUSAL),
        ("He says the opposite.", "stop", Outcome.UNPARSEABLE),
    ],
)
def test_no_value(text: str | None, finish: str, outcome: Outcome) -> None:
    assert read_json(text, FIELDS, finish=finish)["pragmatic_intent"].outcome is outcome


@pytest.mark.parametrize("echo", ["<intent_name>", "Irony | Humor | Empathy | Politeness", "..."])
def test_an_echo_of_the_schema_is_not_an_answer_outside_the_labels(echo: str) -> None:
    reading = read_json(f'{{"pragmatic_intent": "{echo}"}}', FIELDS)["pragmatic_intent"]
    assert (reading.outcome, reading.flags) == (Outcome.UNPARSEABLE, ())


@pytest.mark.parametrize(
    ("last", "outcome"),
    [
        ('{"pragmatic_intent": "Sarcasm"}', Outcome.UNPARSEABLE),
        ('Correction: {"pragmatic_intent": null}', Outcome.UNPARSEABLE),
        ('{"pragmatic_intent": "Irony or Humor"}', Outcome.AMBIGUOUS),
        ('{"pragmatic_intent": "Irony"}', Outcome.OK),
    ],
)
def test_the_last_object_counts_whatever_it_says(last: str, outcome: Outcome) -> None:
    reading = read_json(f'{{"pragmatic_intent": "Humor"}} Wait. {last}', FIELDS)["pragmatic_intent"]
    assert reading.outcome is outcome
    assert flags.SELF_CORRECTED in reading.flags


@pytest.mark.parametrize("echo", ['"<intent_name>"', '""', '{"type": "string", "enum": ["Irony", "Humor"]}'])
def test_an_echo_after_the_answer_corrects_nothing(echo: str) -> None:
    reading = read_json(f'{{"pragmatic_intent": "Irony"}}\n{{"pragmatic_intent": {echo}}}', FIELDS)["pragmatic_intent"]
    assert (reading.value, reading.flags) == ("irony", ())


def test_an_answer_unread_before_is_no_correction() -> None:
    reading = read_json('{"pragmatic_intent": "Sarcasm"} {"pragmatic_intent": "Irony"}', FIELDS)["pragmatic_intent"]
    assert (reading.value, reading.flags) == ("irony", ())


@pytest.mark.parametrize("value", ['["Humor", "Bogus"]', '["Bogus", "Humor"]', '["Humor", null]'])
def test_a_list_with_an_unknown_part_is_unread_in_any_order(value: str) -> None:
    reading = read_json(f'{{"pragmatic_intent": {value}}}', FIELDS)["pragmatic_intent"]
    assert reading.outcome is Outcome.UNPARSEABLE


def test_a_key_given_twice_is_noted() -> None:
    reading = read_json('{"pragmatic_intent": "Humor", "pragmatic_intent": "Irony"}', FIELDS)["pragmatic_intent"]
    assert (reading.value, reading.flags) == ("irony", (flags.DUPLICATE_KEY,))


def test_several_fields() -> None:
    letters: dict[str, tuple[str, ...]] = dict.fromkeys("ABCDEF", ())
    readings = read_json('{"answer_q1": "A", "answer_q2": "b"}', {"answer_q1": letters, "answer_q2": letters})
    assert [reading.value for reading in readings.values()] == ["A", "B"]
    half = read_json('{"answer_q1": "A"}', {"answer_q1": letters, "answer_q2": letters})
    assert half["answer_q2"].outcome is Outcome.UNPARSEABLE
    spread = read_json(
        '{"answer_q1": "(A)"}\n{"answer_q2": "B. she lost it"}', {"answer_q1": letters, "answer_q2": letters}
    )
    assert [reading.value for reading in spread.values()] == ["A", "B"]


TWO: dict[str, dict[str, tuple[str, ...]] | None] = {"stance": STANCES, "pragmatic_intent": INTENTS}
FULL = '{"stance": "Negative", "pragmatic_intent": "Irony"}'


@pytest.mark.parametrize(
    ("text", "stance", "intent"),
    [
        (f'{FULL}\n{{"stance": "Positive", "pragmatic_intent": "Humor"}}', "positive", "humor"),
        # Half of one answer and half of another is an answer that was never given.
        (f'Option A: {FULL} Option B: {{"stance": "Positive"}}', "positive", Outcome.AMBIGUOUS),
        (f'{FULL} {{"stance": "Negative"}}', "negative", "irony"),
        (f'{FULL} {{"stance": "Positive"}} {FULL}', "negative", "irony"),
        ('{"stance": "Sour", "pragmatic_intent": "Irony"} {"stance": "Negative"}', "negative", "irony"),
        ('{"stance": "Negative"} {"pragmatic_intent": "Irony"}', "negative", "irony"),
        ('{"draft": {"stance": "Positive", "pragmatic_intent": "Irony"}, "stance": "Negative"}', "negative", "irony"),
        ('{"stance": "<stance>", "pragmatic_intent": "Irony"} {"stance": "Negative"}', "negative", "irony"),
        ("1. stance: Negative\n2. pragmatic_intent: Irony", "negative", "irony"),
    ],
)
def test_fields_are_of_one_answer(text: str, stance: str, intent: str | Outcome) -> None:
    readings = read_json(text, TWO)
    assert readings["stance"].value == stance
    said = readings["pragmatic_intent"]
    assert (said.value or said.outcome) == intent, said


@pytest.mark.parametrize(
    "value",
    [
        "Positive (Formulaic Positive)",
        "Neutral, i.e. Veiled Negative",
        "Positive but Sarcastic Negative",
        "Positive -> Negative",
        "Positive→Negative",
        "Neutral (leaning Negative)",
        "Neutral; Negative",
        "Neutral – Negative",
        "Neutral|Negative",
        "Neutral Negative",
        "中性消极",
        "积极消极",
        "积极→消极",
        "积极（讽刺消极）",
        "积极和消极",
        "Positive (消极)",
    ],
)
def test_two_labels_in_one_value_are_two_answers(value: str) -> None:
    reading = read_json(f'{{"stance": "{value}"}}', {"stance": STANCES})["stance"]
    assert reading.outcome is Outcome.AMBIGUOUS, reading


@pytest.mark.parametrize(
    "value", ["希望破灭", "希望不大", "骄傲自大", "骄傲与偏见", "Hopelessness", "Hope shattered", "Pride and prejudice"]
)
def test_a_label_within_a_longer_word_is_not_that_label(value: str) -> None:
    labels = {"hope": ("Hope", "希望"), "pride": ("Pride", "骄傲")}
    reading = read_json(f'{{"emotion": "{value}"}}', {"emotion": labels})["emotion"]
    assert (reading.outcome, reading.flags) == (Outcome.UNPARSEABLE, (flags.OUT_OF_SPACE,)), reading


SPACES = {name: load(f"cue_{name}").forms() for name in ("stance9", "intent8", "emotion25", "polarity3")}


def read_in(space: str, value: str) -> Reading:
    return read_json(json.dumps({"field": value}), {"field": SPACES[space]})["field"]


@pytest.mark.parametrize(
    ("space", "value", "label"),
    [
        ("stance9", "讽刺性消极（积极 + 消极）", "sarcastic_negative"),
        ("stance9", "讽刺性消极(积极+消极)", "sarcastic_negative"),
        ("stance9", "讽刺性消极【积极+消极】", "sarcastic_negative"),
        ("stance9", "讽刺性消极（显性：积极；隐性：消极）", "sarcastic_negative"),
        ("stance9", "讽刺性消极：积极 + 消极", "sarcastic_negative"),
        ("stance9", "讽刺性消极——积极的话，消极的意思", "sarcastic_negative"),
        ("stance9", "讽刺性消极，表面积极", "sarcastic_negative"),
        ("stance9", "Sarcastic Negative (positive + negative)", "sarcastic_negative"),
        ("stance9", "Sarcastic Negative (positive -> negative)", "sarcastic_negative"),
        ("stance9", "Sarcastic Negative - positive + negative", "sarcastic_negative"),
        ("stance9", "Sarcastic Negative (explicit = positive, implicit = negative)", "sarcastic_negative"),
        ("stance9", "Sarcastic Negative (negative)", "sarcastic_negative"),
        ("stance9", "讽刺性消极（消极）", "sarcastic_negative"),
        ("stance9", "Formulaic Positive (Positive + Neutral)", "formulaic_positive"),
        ("stance9", "Veiled Negative = neutral + negative", "veiled_negative"),
        ("stance9", "Veiled Negative (neutral words, negative feeling)", "veiled_negative"),
        ("intent8", "Irony (mock politeness)", "irony"),
        ("intent8", "Irony, mock politeness", "irony"),
        ("intent8", "Irony - mock politeness", "irony"),
        ("intent8", "反讽（表面礼貌）", "irony"),
    ],
)
def test_what_explains_a_label_is_no_second_label(space: str, value: str, label: str) -> None:
    reading = read_in(space, value)
    assert (reading.value, reading.flags) == (label, ()), reading


@pytest.mark.parametrize(
    ("space", "value", "label"),
    [
        ("intent8", "讽刺挖苦", "irony"),
        ("intent8", "讽刺他人", "irony"),
        ("intent8", "反讽手法", "irony"),
        ("intent8", "功能性表达", "functional"),
        ("intent8", "真诚表达", "authenticity"),
        ("intent8", "幽默调侃", "humor"),
        ("intent8", "礼貌客套", "politeness"),
        ("intent8", "共情安慰", "empathy"),
        ("emotion25", "内疚自责", "guilt"),
        ("emotion25", "绝望无助", "despair"),
        ("emotion25", "希望未来更好", "hope"),
        ("stance9", "积极词汇", "positive"),
        ("stance9", "积极向上", "positive"),
        ("stance9", "中性陈述", "neutral"),
        ("stance9", "消极是因为他不满", "negative"),
        ("polarity3", "负面评价", "negative"),
    ],
)
def test_characters_that_elaborate_a_chinese_label_leave_it(space: str, value: str, label: str) -> None:
    reading = read_in(space, value)
    assert (reading.value, reading.flags) == (label, ()), reading


UNDONE = {
    "emotion25": ["希望破灭", "希望渺茫", "焦虑绝望", "悲观绝望", "骄傲自大", "好奇怪", "敬畏与恐惧"],
    "stance9": ["消极讽刺", "消极的讽刺", "中性消极", "中性偏积极", "积极消极", "积极但消极", "表面积极实则消极"],
    "intent8": ["礼貌性拒绝", "幽默讽刺", "功能障碍"],
    "polarity3": ["积极性不高", "积极性下降"],
}


@pytest.mark.parametrize(("space", "value"), [(space, value) for space, values in UNDONE.items() for value in values])
def test_characters_that_undo_a_chinese_label_leave_it_unread(space: str, value: str) -> None:
    assert not read_in(space, value).ok


CLEAR = [
    "Negative",
    "negative.",
    "Negative (消极)",
    "消极",
    "消极。",
    "消极的",
    "消极情绪",
    "消极的态度",
    "消极性",
    "消极，因为他在抱怨",
    "消极因为他在抱怨",
    "消极但克制",
    "消极而非积极",
    "消极（而非积极）",
    "不是积极，是消极",
    "Negative, not Positive",
    "not Positive, but Negative",
    "Negative (rather than Positive)",
    "Negative, no Positive at all",
    "Negative instead of Neutral",
    "Negative: the positive words hide it",
    "Negative because nothing positive is said",
    "Negative. She says it in a positive tone.",
    "Negative (she only uses positive words to hide it)",
    "Negative - with a little restraint",
    "The stance is Negative",
    "I would say Negative",
]
"""Values that state one label, whatever else they say: no rule may make them unreadable."""


@pytest.mark.parametrize("value", CLEAR)
def test_clear_values_stay_clear(value: str) -> None:
    reading = read_json(f'{{"stance": "{value}"}}', {"stance": STANCES})["stance"]
    assert (reading.outcome, reading.value, reading.flags) == (Outcome.OK, "negative", ()), reading


def test_free_fields_give_the_value_as_it_is() -> None:
    readings = read_json('{"reason": "It hurts", "score": 3}', {"reason": None, "score": None})
    assert (readings["reason"].value, readings["score"].value) == ("It hurts", 3)


@pytest.mark.parametrize(
    "text", ["{" * 50_000, "[" * 50_000, '{"a":' * 20_000, "}" * 50_000, '"' * 50_000, "{'a': " * 3_000]
)
def test_hostile_json_ends(text: str) -> None:
    assert not read_json(text, FIELDS)["pragmatic_intent"].ok
