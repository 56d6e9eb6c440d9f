"""Replies with one answer per agent."""

from __future__ import annotations

import pytest

from affectlab.reading import Outcome, flags, read_agents

A = {"A": "joy", "B": "pride", "C": "relief", "D": "gratitude", "E": "excitement"}
B = {"A": "anger", "B": "sadness", "C": "fear", "D": "disgust", "E": "embarrassment"}
OPTIONS = {"A": A, "B": B}

C_AND_A = [
    "AGENT A: C\nAGENT B: A",
    "AGENT A: C\r\nAGENT B: A\r\n",
    "AGENT A: C\n\nAGENT B: A",
    "AGENT A: C AGENT B: A",
    "AGENT A: C, AGENT B: A",
    "AGENT A: C; AGENT B: A",
    "AGENT A: C | AGENT B: A",
    "AGENT A: C / AGENT B: A",
    "AGENT A: C and AGENT B: A",
    "Agent A - C / Agent B - A",
    "Agent A – C\nAgent B – A",
    "Agent A = C\nAgent B = A",
    "Agent A → C; Agent B → A",
    "Agent A -> C\nAgent B -> A",
    "AGENT A：C\nAGENT B：A",
    "ＡＧＥＮＴ Ａ：Ｃ\nＡＧＥＮＴ Ｂ：Ａ",
    "agent a: c\nagent b: a",
    "Agent_A: C\nAgent_B: A",
    "AgentA: C\nAgentB: A",
    "Agent-A: C\nAgent-B: A",
    "AGENT B: A\nAGENT A: C",
    "AGENT A: C.\nAGENT B: A.",
    "AGENT A: (C)\nAGENT B: (A)",
    "AGENT A: [C]\nAGENT B: [A]",
    "AGENT A: <C>\nAGENT B: <A>",
    'AGENT A: "C"\nAGENT B: "A"',
    "AGENT A: C)\nAGENT B: A)",
    "AGENT A: C) relief\nAGENT B: A) anger",
    "AGENT A: C. relief\nAGENT B: A. anger",
    "AGENT A: C - relief\nAGENT B: A - anger",
    "AGENT A: C (relief)\nAGENT B: A (anger)",
    "AGENT A: relief (C)\nAGENT B: anger (A)",
    "AGENT A: relief\nAGENT B: anger",
    "AGENT A: Relief.\nAGENT B: Anger.",
    "AGENT A: option C\nAGENT B: option A",
    "AGENT A: $\\boxed{C}$\nAGENT B: $\\boxed{A}$",
    "**AGENT A:** C\n**AGENT B:** A",
    "**AGENT A**: C\n**AGENT B**: A",
    "**AGENT A: C**\n**AGENT B: A**",
    "AGENT A: **C**\nAGENT B: **A**",
    "- AGENT A: C\n- AGENT B: A",
    "* **Agent A:** C\n* **Agent B:** A",
    "1. AGENT A: C\n2. AGENT B: A",
    "> AGENT A: C\n> AGENT B: A",
    "```\nAGENT A: C\nAGENT B: A\n```",
    "```text\nAGENT A: C\nAGENT B: A\n```",
    "| Agent | Letter |\n|---|---|\n| Agent A | C |\n| Agent B | A |",
    "| AGENT A | C |\n| AGENT B | A |",
    "Agent A:\nC\nAgent B:\nA",
    "**Agent A**\nC\n\n**Agent B**\nA",
    "### Agent A\nEmotion: relief (C)\n### Agent B\nEmotion: anger (A)",
    "**Agent A**\n- Emotion: C\n\n**Agent B**\n- Emotion: A",
    "Agent A's emotion: C\nAgent B's emotion: A",
    "Agent A’s answer is C\nAgent B’s answer is A",
    "Agent A (the nurse): C\nAgent B (the driver): A",
    "Answer for Agent A: C\nAnswer for Agent B: A",
    "The answer for Agent A is C and for Agent B is A.",
    "Agent A feels relief and Agent B feels anger.",
    "Agent A feels relief, while Agent B feels anger.",
    "Agent A most likely feels relief (C). Agent B most likely feels anger (A).",
    "AGENT A: C because the search ended well\nAGENT B: A because of the delay",
    "AGENT A: C\nAGENT B: A\n\nExplanation: A was blocked and B was not.",
    "AGENT A: C\nAGENT B: A\n\nAgent A is glad that the threat is over. Agent B was blamed.",
    "Agent A was in danger, so relief fits. Agent B was blocked.\n\nAGENT A: C\nAGENT B: A",
    "Agent A: she passed the danger and is safe.\nAgent B: he was blocked.\n\nAGENT A: C\nAGENT B: A",
    "Final answer:\nAGENT A: C\nAGENT B: A",
    "<think>AGENT A: B\nAGENT B: B</think>AGENT A: C\nAGENT B: A",
    "AGENT A: B\nAGENT B: B</think>\nAGENT A: C\nAGENT B: A",
    "<answer>AGENT A: C\nAGENT B: A</answer>",
    "<answer>\nAGENT A: C\nAGENT B: A\n</answer>",
    "A: C\nB: A",
    "A: C, B: A",
    "A: C; B: A",
    "A - C\nB - A",
    "A = C, B = A",
    "(A): C, (B): A",
    "A: relief\nB: anger",
    "**A:** C\n**B:** A",
    "Person A: C\nPerson B: A",
    "Character A: C\nCharacter B: A",
    "角色A：C\n角色B：A",
    "人物A：C；人物B：A",
    "智能体A：C\n智能体B：A",
    "Agent 1: C\nAgent 2: A",
    "甲：C\n乙：A",
    "Agent A: C\nB: A",
    '{"A": "C"}\n{"B": "A"}',
    '[{"agent": "A", "answer": "C"}, {"agent": "B", "answer": "A"}]',
    '{"A": "C", "B": "A"}',
    '{"AGENT A": "C", "AGENT B": "A"}',
    '{"agent_a": "C", "agent_b": "A"}',
    '{"Agent A": "relief", "Agent B": "anger"}',
    "{'A': 'C', 'B': 'A'}",
    '```json\n{"agent_a": "C", "agent_b": "A"}\n```',
    'Here you go: {"A": "C) relief", "B": "A) anger"}.',
]


@pytest.mark.parametrize("text", C_AND_A)
def test_relief_and_anger(text: str) -> None:
    readings = read_agents(text, OPTIONS)
    assert {slot: reading.value for slot, reading in readings.items()} == {"A": "C", "B": "A"}, readings
    assert not any(reading.flags for reading in readings.values())


@pytest.mark.parametrize(
    "text",
    [
        "C\nA",
        "C, A",
        "C A",
        "C / A",
        "C;A",
        "C and A",
        "1. C\n2. A",
        "(C)\n(A)",
        "relief\nanger",
        "C) relief\nA) anger",
        "Relief, anger.",
    ],
)
def test_bare_answers_in_order_are_positional(text: str) -> None:
    readings = read_agents(text, OPTIONS)
    assert {slot: reading.value for slot, reading in readings.items()} == {"A": "C", "B": "A"}, readings
    assert all(reading.flags == (flags.POSITIONAL,) for reading in readings.values())


@pytest.mark.parametrize(
    "text", ["C", "C\nA\nB", "CA", "The letters are C and A and B", "relief", "I am glad\nand sad"]
)
def test_no_position_without_as_many_answers_as_slots(text: str) -> None:
    assert not any(reading.ok for reading in read_agents(text, OPTIONS).values())


def test_one_line_answers_one_slot() -> None:
    readings = read_agents("AGENT A: C", OPTIONS)
    assert readings["A"].value == "C"
    assert readings["B"].outcome is Outcome.UNPARSEABLE
    cut = read_agents("AGENT A: C\nAGENT", OPTIONS, finish="length")
    assert cut["A"].value == "C"
    assert cut["B"].outcome is Outcome.TRUNCATED


def test_texts_of_the_other_agent_are_flagged_and_not_swapped() -> None:
    for reading in read_agents("AGENT A: anger\nAGENT B: relief", OPTIONS).values():
        assert reading.outcome is Outcome.UNPARSEABLE
        assert set(reading.flags) == {flags.OUT_OF_SPACE, flags.SWAPPED}


def test_letter_with_the_other_agents_text_is_ambiguous() -> None:
    reading = read_agents("AGENT A: A) anger\nAGENT B: A", OPTIONS)["A"]
    assert reading.outcome is Outcome.AMBIGUOUS
    assert {flags.LETTER_TEXT_CONFLICT, flags.SWAPPED} <= set(reading.flags)


def test_same_letter_on_both_lines_is_legal() -> None:
    readings = read_agents("AGENT A: C\nAGENT B: C", OPTIONS)
    assert (readings["A"].value, readings["B"].value) == ("C", "C")


def test_letter_out_of_range() -> None:
    readings = read_agents("AGENT A: F\nAGENT B: A", OPTIONS)
    assert readings["A"].flags == (flags.OUT_OF_SPACE,)
    assert readings["B"].value == "A"
    assert read_agents("AGENT A: surprise\nAGENT B: A", OPTIONS)["A"].outcome is Outcome.UNPARSEABLE


@pytest.mark.parametrize(
    "text",
    ["AGENT A: B\nAGENT B: B\nCorrection:\nAGENT A: C\nAGENT B: A", "AGENT A: B\nAGENT B: B\n\nAGENT A: C\nAGENT B: A"],
)
def test_a_repeated_line_corrects_the_first(text: str) -> None:
    readings = read_agents(text, OPTIONS)
    assert {slot: (r.value, r.flags) for slot, r in readings.items()} == {
        "A": ("C", (flags.SELF_CORRECTED,)),
        "B": ("A", (flags.SELF_CORRECTED,)),
    }


def test_the_same_lines_twice_correct_nothing() -> None:
    readings = read_agents("AGENT A: C\nAGENT B: A\nAGENT A: C\nAGENT B: A", OPTIONS)
    assert readings["A"].flags == ()


def test_two_answers_for_one_agent_are_ambiguous_for_that_agent() -> None:
    readings = read_agents("AGENT A: C or D\nAGENT B: A", OPTIONS)
    assert readings["A"].outcome is Outcome.AMBIGUOUS
    assert readings["B"].value == "A"


@pytest.mark.parametrize(
    "text",
    [
        "the nurse: C\nthe truck driver: A",
        "The nurse - relief. The truck driver - anger.",
        "The nurse feels relief and the truck driver feels anger.",
        "**Nurse:** C\n**Truck driver:** A",
        '{"nurse": "C", "truck driver": "A"}',
        "护士：C\n司机：A",
    ],
)
def test_agents_called_by_their_roles(text: str) -> None:
    names = {"A": ["the nurse", "nurse", "护士"], "B": ["the truck driver", "truck driver", "司机"]}
    readings = read_agents(text, OPTIONS, names=names)
    assert {slot: reading.value for slot, reading in readings.items()} == {"A": "C", "B": "A"}, readings


@pytest.mark.parametrize(
    "text", ["AGENT A: C", "C", "Answer: C", "relief", "Agent A feels relief.", "C) relief", "The answer is C."]
)
def test_one_slot(text: str) -> None:
    assert read_agents(text, {"A": A})["A"].value == "C"


def test_three_slots() -> None:
    options = {"A": A, "B": B, "C": A}
    readings = read_agents("AGENT A: C\nAGENT B: A\nAGENT C: B", options)
    assert [reading.value for reading in readings.values()] == ["C", "A", "B"]


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        (None, Outcome.EMPTY),
        ("  \n", Outcome.EMPTY),
        ("I'm sorry, but I can't help with that.", Outcome.REFUSAL),
        ("抱歉，我无法回答。", Outcome.REFUSAL),
        ("<think>AGENT A: C\nAGENT B: A", Outcome.TRUNCATED),
        ("Agent A is glad. Agent B is upset.", Outcome.UNPARSEABLE),
        ("AGENT A: \nAGENT B: ", Outcome.UNPARSEABLE),
        ("AGENT A: <letter>\nAGENT B: <letter>", Outcome.UNPARSEABLE),
        ("A happy nurse and a sad driver", Outcome.UNPARSEABLE),
    ],
)
def test_no_answer_for_either(text: str | None, outcome: Outcome) -> None:
    assert [reading.outcome for reading in read_agents(text, OPTIONS).values()] == [outcome, outcome]


@pytest.mark.parametrize("text", ["A. joy", "A) joy", "A joy", "D. sadness", "A\njoy", "A. anger", "C. fear"])
def test_one_answer_with_its_letter_is_not_one_for_each(text: str) -> None:
    found = read_agents(text, OPTIONS)
    assert not any(reading.ok and "positional" in reading.flags for reading in found.values())
