"""Replies that list labels."""

from __future__ import annotations

import pytest

from affectlab.reading import LabelSet, Outcome, flags, label_groups, read_label_set

GROUPS = [
    "Hopeful, optimistic, encouraged",
    "Grateful, appreciative, thankful",
    "Glad, happy, joyful",
    "Love, closeness, trust",
    "Calm, peaceful, relaxed",
]
WANTED = label_groups(GROUPS)
GLAD, CALM = "Glad, happy, joyful", "Calm, peaceful, relaxed"


@pytest.mark.parametrize(
    "text",
    [
        f"{GLAD}; {CALM}",
        f"{GLAD};{CALM}",
        f"{GLAD}； {CALM}",
        f"{GLAD}; {CALM}.",
        f"{GLAD}; {CALM};",
        f"{CALM}; {GLAD}",
        f"{GLAD}\n{CALM}",
        f"{GLAD}\r\n{CALM}\r\n",
        f"{GLAD},\n{CALM}",
        f"- {GLAD}\n- {CALM}",
        f"* {GLAD}\n* {CALM}",
        f"• {GLAD}\n• {CALM}",
        f"1. {GLAD}\n2. {CALM}",
        f"1) {GLAD}\n2) {CALM}",
        f"(1) {GLAD}; (2) {CALM}",
        f"a) {GLAD}\nb) {CALM}",
        f"{GLAD}, {CALM}",
        f"{GLAD} and {CALM}",
        f"{GLAD}; and {CALM}",
        f"{GLAD} / {CALM}",
        f"{GLAD} | {CALM}",
        f"{GLAD} & {CALM}",
        f"{GLAD.upper()}; {CALM.lower()}",
        f'"{GLAD}"; "{CALM}"',
        f"'{GLAD}', '{CALM}'",
        f"**{GLAD}**; **{CALM}**",
        f"```\n{GLAD}; {CALM}\n```",
        f'["{GLAD}", "{CALM}"]',
        f"['{GLAD}', '{CALM}']",
        f'{{"labels": ["{GLAD}", "{CALM}"]}}',
        f'```json\n["{GLAD}", "{CALM}"]\n```',
        f"My Answer: {GLAD}; {CALM}",
        f"My answer:\n{GLAD}\n{CALM}",
        f"Answer: {GLAD}; {CALM}",
        f"Labels: {GLAD}; {CALM}",
        f"The labels are: {GLAD}; {CALM}",
        f"I felt {GLAD}; {CALM}",
        f"The emotions are {GLAD} and {CALM}.",
        f"{GLAD}; {CALM}\n\nExplanation: it went well.",
        f"<think>Hopeful, optimistic, encouraged</think>{GLAD}; {CALM}",
        f"{GLAD}; {CALM}; {GLAD}",
        "Glad，happy，joyful；Calm，peaceful，relaxed",
        "Glad, Happy, Joyful; Calm, Peaceful, Relaxed",
    ],
)
def test_glad_and_calm(text: str) -> None:
    reading = read_label_set(text, WANTED)
    assert (reading.outcome, reading.value, reading.flags) == (Outcome.OK, (GLAD, CALM), ()), reading


@pytest.mark.parametrize(
    "text",
    [
        "None",
        "none",
        "none.",
        "NONE",
        '"None"',
        "**None**",
        "My Answer: None",
        "Answer: none.",
        "None of the above",
        "None of these.",
        "[]",
        '["None"]',
        "- None",
        "N/A",
        "无",
        "没有",
        "以上都不是",
        "<think>Glad</think>None",
    ],
)
def test_none_is_the_empty_set(text: str) -> None:
    reading = read_label_set(text, WANTED)
    assert (reading.outcome, reading.value) == (Outcome.OK, ()), reading


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("hopeful", (GROUPS[0],)),
        ("Happy; calm", (GLAD, CALM)),
        ("happy, calm", (GLAD, CALM)),
        ("glad, happy", (GLAD,)),
        (f"{GLAD}; calm", (GLAD, CALM)),
    ],
)
def test_member_words_stand_for_their_group(text: str, value: tuple[str, ...]) -> None:
    reading = read_label_set(text, WANTED)
    assert (reading.value, reading.flags) == (value, (flags.MEMBER_WORD,))


def test_a_word_of_two_groups_stands_for_neither() -> None:
    wanted = label_groups(["warm, happy", "warm, cosy"])
    assert read_label_set("warm", wanted).outcome is Outcome.UNPARSEABLE
    assert read_label_set("cosy", wanted).value == ("warm, cosy",)


@pytest.mark.parametrize(
    ("text", "strange"),
    [
        (f"{GLAD}; Furious", "Furious"),
        (f"{GLAD}\nnostalgia\n{CALM}", "nostalgia"),
        ("Furious", "Furious"),
        (f'["{GLAD}", "Furious"]', "Furious"),
    ],
)
def test_an_unknown_label_spoils_the_answer_and_is_kept(text: str, strange: str) -> None:
    reading = read_label_set(text, WANTED)
    assert (reading.outcome, reading.evidence) == (Outcome.UNPARSEABLE, strange)
    assert flags.OUT_OF_SPACE in reading.flags


@pytest.mark.parametrize("text", [f"None; {GLAD}", f"{GLAD}; None", f"None\n{GLAD}"])
def test_none_beside_labels_contradicts_itself(text: str) -> None:
    reading = read_label_set(text, WANTED)
    assert (reading.outcome, reading.flags) == (Outcome.AMBIGUOUS, (flags.NONE_WITH_LABELS,))


def test_an_echo_of_the_whole_list_is_no_answer() -> None:
    reading = read_label_set("; ".join(GROUPS), WANTED)
    assert (reading.outcome, reading.flags) == (Outcome.AMBIGUOUS, (flags.LIST_ECHO,))


def test_values_come_in_declared_order() -> None:
    assert read_label_set(f"{CALM}; {GLAD}", WANTED).value == (GLAD, CALM)


def test_ids_and_names_may_differ() -> None:
    wanted = LabelSet({"joy": ("Joy", "喜悦"), "fear": ("Fear", "恐惧"), "trust": ("Trust", "信任")})
    assert read_label_set("恐惧、喜悦", wanted).value == ("joy", "fear")
    assert read_label_set("Joy, Fear", wanted).value == ("joy", "fear")
    assert read_label_set("Joy; fear", wanted).value == ("joy", "fear")


@pytest.mark.parametrize(
    ("text", "finish", "outcome"),
    [
        (None, "stop", Outcome.EMPTY),
        ("I'm sorry, but I can't help with that.", "stop", Outcome.REFUSAL),
        (f"{GLAD}; Calm, pea", "length", Outcome.TRUNCATED),
        (f"{GLAD}; {CALM}", "length", Outcome.TRUNCATED),
        ("<think>Glad, happy, joyful", "stop", Outcome.TRUNCATED),
        ("It was a good day and the weather was fine.", "stop", Outcome.UNPARSEABLE),
        ("...", "stop", Outcome.UNPARSEABLE),
    ],
)
def test_no_set(text: str | None, finish: str, outcome: Outcome) -> None:
    assert read_label_set(text, WANTED, finish=finish).outcome is outcome


EMOTIONS = LabelSet(
    {"joy": ("Joy", "喜悦"), "trust": ("Trust", "信任"), "fear": ("Fear", "恐惧"), "anger": ("Anger", "愤怒")}
)


@pytest.mark.parametrize(
    "text",
    [
        "The person does not feel joy.",
        "The person doesn't feel joy",
        "I never felt joy",
        "She feels many emotions, not including joy",
        "No one would feel joy",
        "None of the emotions are joy",
        "How could I feel joy",
        "I was too tired to feel joy",
        "I wouldn't say the answer is joy",
        "This is not a story in which the emotion is joy",
        "Not felt are joy",
        "Nobody feels joy",
        "Nothing makes her feel joy",
        "She hardly feels joy",
        "Lacking is joy",
        "Absent is joy",
        "Excluded emotions are: joy",
        "Unfelt emotions are: joy",
        "Emotions not felt: joy",
        "她未感到喜悦",
        "In Paris joy",
        "First I felt trust and a chill and then I felt joy",
        "There's nothing to feel joy about",
        "There is no reason she would feel joy",
        "There is no way I felt joy",
        "I don't think I felt joy",
        "I wouldn't say that she feels joy",
        "Although I wouldn't say she feels joy",
        "When nobody in the story feels joy",
        "When she left I did not feel joy",
        "Because nothing made the person feel joy",
        "Even though none of the emotions are joy",
        "The answer is not joy and I never felt joy",
        "At no point and in no way I felt joy",
        "The emotions not felt are joy and trust",
        "Emotions: fear. Not included are joy",
        "Emotions: fear. What she lacks is joy",
        "I felt fear. Then I felt joy and a chill",
        "她没有感到喜悦",
        "她不觉得喜悦",
        "情绪不是喜悦",
    ],
)
def test_what_is_denied_is_not_read(text: str) -> None:
    reading = read_label_set(text, EMOTIONS)
    assert (reading.outcome, reading.value) == (Outcome.UNPARSEABLE, None), reading


CLEAR = [
    "joy",
    "I felt joy",
    "She feels joy.",
    "The person feels a mix of emotions, including joy.",
    "The person would feel joy",
    "If I were her, I would feel joy",
    "The emotion is joy",
    "My answer is joy",
    "I felt nothing bad, my answer is joy",
    "When nobody came to help me I still felt joy.",
    "Even though there was no reward I felt joy.",
    "Even though I had no reward I felt joy.",
    "Although nobody came she feels joy",
    "I couldn't believe it and I felt joy",
    "Nobody came yet I felt joy",
    "I never expected it and I felt joy",
    "I had nothing to lose so I felt joy",
    "Not surprisingly I felt joy",
    "Without hesitation: I felt joy",
    "Missing details aside the answer is: joy",
    "While anger is absent, the emotions felt are joy.",
    "There's no doubt I felt joy.",
    "There is no doubt that I felt joy.",
    "No doubt I felt joy",
    "Without a doubt she feels joy",
    "Without more context the most likely emotions are: joy",
    "Without more context the person would feel joy",
    "Without knowing more I would say the emotion is joy",
    "我不禁感到喜悦",
    "毫无疑问她感到喜悦",
    "She is not angry. Answer: joy",
    "At first I thought of fear and anger. Answer: joy",
    "The trust in this story is broken.\n\nEmotions: joy",
    "My feelings are mixed, so the labels are: joy",
    "Of all four emotions, the answer is joy",
    "喜悦",
    "情绪：喜悦",
    "答案是喜悦",
    "她感到喜悦",
    '["joy"]',
    'Answer: ["joy"]',
    '{"result": {"emotions": ["joy"]}}',
    '[{"emotions": ["joy"]}]',
    '{"emotions": ["joy"], "confidence": 80}',
    '{"emotions": ["<label>"]}\n{"emotions": ["joy"]}',
    '{"emotions": ["joy"]}\n{"emotions": ["<label>"]}',
    '{"emotions": ["joy"], "explanation": "no fear"}',
    '{"emotions": ["joy"], "reasons": ["I smiled.", "No fear at all."]}',
    '{"reasons": ["I smiled."], "emotions": ["joy"]}',
]
"""Replies that state joy and no more, however they say it: no rule may make them unreadable."""


@pytest.mark.parametrize("text", CLEAR)
def test_clear_lists_stay_clear(text: str) -> None:
    for field in (None, "emotions"):
        reading = read_label_set(text, EMOTIONS, field=field)
        assert (reading.outcome, reading.value, reading.flags) == (Outcome.OK, ("joy",), ()), (field, reading)


@pytest.mark.parametrize(
    "text",
    [
        '{"not_felt": ["fear", "anger"], "emotions": ["joy"]}',
        '{"considered": ["fear"], "emotions": ["joy"]}',
        '{"emotions": ["joy"], "considered": ["fear"]}',
        '{"evidence": ["she laughs"], "emotions": ["joy"]}',
        '{"emotions": "joy", "confidence": 5}',
        '{"emotions": {"joy": true, "fear": false}}',
        '{"joy": 1, "fear": 0, "trust": 0, "anger": 0}',
        '{"joy": "yes", "fear": "no"}',
        '{"Emotions": ["joy"]}',
        '{"emotions": ["<each emotion that is felt>"]}\n{"emotions": ["joy"]}',
    ],
)
def test_the_field_that_was_asked_for_is_read(text: str) -> None:
    reading = read_label_set(text, EMOTIONS, field="emotions")
    assert (reading.value, reading.flags) == (("joy",), ()), reading


def test_text_of_a_field_may_list_labels() -> None:
    assert read_label_set('{"emotions": "joy, fear"}', EMOTIONS, field="emotions").value == ("joy", "fear")
    assert read_label_set('{"emotions": "None"}', EMOTIONS, field="emotions").value == ()


@pytest.mark.parametrize(
    "text",
    [
        '{"considered": ["fear"], "answer": ["joy"]}',
        '{"answer": ["joy"], "considered": ["fear"]}',
        '{"answer": ["joy"], "considered": ["fear", "despair"]}',
        '{"answer": [], "considered": ["fear"]}',
    ],
)
def test_several_lists_of_an_object_are_several_answers(text: str) -> None:
    for field in (None, "emotions"):
        assert read_label_set(text, EMOTIONS, field=field).outcome is Outcome.AMBIGUOUS


@pytest.mark.parametrize(
    "text",
    [
        '{"labels": ["joy"]}',
        '{"labels": ["<label>"]}\n{"labels": ["joy"]}',
        '{"labels": ["joy"]}\n{"labels": ["<label>"]}',
        '{"labels": {"joy": true, "fear": false}}',
        '{"labels": ["joy"], "reasons": ["She laughs."]}',
        '{"evidence": ["she laughs"], "answer": ["joy"]}',
        '{"labels": ["joy"], "not_felt": ["fear"]}',
        '{"selected": ["joy"], "unselected": ["fear"]}',
        '{"selected": ["joy"], "keywords": ["smile"]}',
    ],
)
def test_the_only_list_of_labels_counts_under_any_key(text: str) -> None:
    for field, raised in ((None, ()), ("emotions", (flags.OTHER_KEY,))):
        reading = read_label_set(text, EMOTIONS, field=field)
        assert (reading.value, reading.flags) == (("joy",), raised), (field, reading)


def test_lists_without_labels_are_unread() -> None:
    reading = read_label_set('{"emotions": ["Furious"], "reasons": ["I smiled."]}', EMOTIONS)
    assert (reading.outcome, reading.flags) == (Outcome.UNPARSEABLE, (flags.OUT_OF_SPACE,))


@pytest.mark.parametrize("text", ["There were no positive emotions: None", "I did not have any emotions: None"])
def test_none_after_a_denial_is_the_empty_set(text: str) -> None:
    reading = read_label_set(text, EMOTIONS)
    assert (reading.outcome, reading.value) == (Outcome.OK, ()), reading


@pytest.mark.parametrize("text", ["I don't think the answer is None", "There were no emotions such as these: joy"])
def test_none_that_is_denied_is_not_the_empty_set(text: str) -> None:
    assert not read_label_set(text, EMOTIONS).ok


@pytest.mark.parametrize(
    "text",
    [
        "I do not feel happy",
        "I never felt happy",
        "I was too angry to feel happy",
        "None of the emotions are happy",
        "I wouldn't say the answer is Glad, happy, joyful",
        "There's nothing to be happy about",
    ],
)
def test_groups_that_are_denied_are_not_read(text: str) -> None:
    assert read_label_set(text, WANTED).outcome is Outcome.UNPARSEABLE


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("When nobody came to help me I still felt happy.", (GLAD,)),
        ("Even though there was no reward I felt happy.", (GLAD,)),
        ("I couldn't believe it and I felt happy and grateful.", (GROUPS[1], GLAD)),
        ("There's no doubt I felt happy.", (GLAD,)),
        ("Without more context the most likely emotions are: Glad, happy, joyful", (GLAD,)),
        ('{"emotions": ["Glad, happy, joyful"], "reasons": ["I smiled."]}', (GLAD,)),
        ("There were no positive emotions: None", ()),
    ],
)
def test_groups_are_read_where_something_else_is_denied(text: str, value: tuple[str, ...]) -> None:
    assert read_label_set(text, WANTED).value == value


def test_what_a_key_denies_is_no_answer() -> None:
    assert read_label_set('{"rejected": ["fear"], "labels": ["joy"]}', EMOTIONS).value == ("joy",)
    assert not read_label_set('{"not_felt": ["fear"]}', EMOTIONS).ok
    assert not read_label_set('{"not_felt": {"fear": true}}', EMOTIONS).ok


def test_the_last_object_counts() -> None:
    reading = read_label_set('{"emotions": ["fear"]} Wait. {"emotions": ["joy"]}', EMOTIONS, field="emotions")
    assert (reading.value, reading.flags) == (("joy",), (flags.SELF_CORRECTED,))
    assert read_label_set('["fear"]\n["joy"]', EMOTIONS).value == ("joy", "fear")


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ('{"emotions": ["joy"], "explanation": "x"}', Outcome.OK),
        ('{"emotions": ["joy"], "explanation": "She laughs and', Outcome.OK),
        ('["joy"]', Outcome.OK),
        ("joy\n\nExplanation: she laughs and", Outcome.OK),
        ('{"emotions": ["joy", "fea', Outcome.TRUNCATED),
        ('["joy", "fea', Outcome.TRUNCATED),
        ('{"explanation": "She laughs and', Outcome.TRUNCATED),
        ("joy", Outcome.TRUNCATED),
    ],
)
def test_a_list_that_was_closed_before_the_limit_is_complete(text: str, outcome: Outcome) -> None:
    reading = read_label_set(text, EMOTIONS, field="emotions", finish="length")
    assert reading.outcome is outcome, reading
    assert (flags.AT_LIMIT in reading.flags) == (outcome is Outcome.OK)
