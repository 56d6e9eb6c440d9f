"""Replies in JSON."""

from __future__ import annotations

import pytest

from affectlab.reading import Outcome, flags, read_json

INTENTS = {
    "irony": ("Irony", "反讽"),
    "humor": ("Humor", "幽默"),
    "empathy": ("Empathy",),
    "politeness": ("Politeness",),
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


def test_the_last_valid_object_counts() -> None:
    text = '{"pragmatic_intent": "Humor"} Wait. {"pragmatic_intent": "Irony"} {"pragmatic_intent": "Sarcasm"}'
    reading = read_json(text, FIELDS)["pragmatic_intent"]
    assert (reading.value, reading.flags) == ("irony", (flags.SELF_CORRECTED,))


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


def test_free_fields_give_the_value_as_it_is() -> None:
    readings = read_json('{"reason": "It hurts", "score": 3}', {"reason": None, "score": None})
    assert (readings["reason"].value, readings["score"].value) == ("It hurts", 3)


@pytest.mark.parametrize(
    "text", ["{" * 50_000, "[" * 50_000, '{"a":' * 20_000, "}" * 50_000, '"' * 50_000, "{'a': " * 3_000]
)
def test_hostile_json_ends(text: str) -> None:
    assert not read_json(text, FIELDS)["pragmatic_intent"].ok
