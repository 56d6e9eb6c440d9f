from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from affectlab.benchmarks.base import Asking
from affectlab.benchmarks.cue.definitions import DEFINITIONS
from affectlab.benchmarks.cue.demonstrations import KINDS, demonstrations, kind, pool
from affectlab.benchmarks.cue.prompts import KEYS, SPACES
from affectlab.benchmarks.cue.protocols import PROTOCOLS, STATED, TASKS, order_of, shown_context
from affectlab.benchmarks.cue.record import load
from affectlab.errors import UserError
from affectlab.items import Item
from affectlab.metrics.predictions import Prediction
from affectlab.models.base import Request, Response

ITEM = Item(
    id="one",
    index=4,
    inputs={"text": "你可真会挑时候。", "context": "甲：到了\n乙：等等\n\n甲：又下雨了"},
    gold={"explicit": "positive", "implicit": "negative", "stance": "sarcastic_negative", "intent": "irony",
          "emotion": "contempt"},
)  # fmt: skip
OTHER = {"explicit": "neutral", "implicit": "positive", "stance": "understated_positive", "intent": "humor",
         "emotion": "pride"}  # fmt: skip
BLIND = [name for name in PROTOCOLS if not name.startswith("oracle")]


def asking(order: Any = "fixed", seed: int = 0, **options: str) -> Asking:
    return Asking(order=order, seed=seed, options=options)


def ask(protocol: str, item: Item = ITEM, **knobs: Any) -> list[Request]:
    return list(PROTOCOLS[protocol].requests(item, asking(**knobs), {}))


def said(request: Request) -> str:
    return "\n".join(f"[{message.role}] {message.content}" for message in request.messages)


def read(protocol: str, step: str, reply: str, **knobs: Any) -> dict[str, Prediction]:
    rows = PROTOCOLS[protocol].read(ITEM, asking(**knobs), {("", step): Response(reply)})
    return {row.slot: row for row in rows}


def test_direct_asks_each_task_once_with_all_its_labels_and_the_whole_context() -> None:
    requests = ask("direct")
    assert [request.step for request in requests] == list(TASKS)
    for request in requests:
        text = said(request)
        for label in SPACES[request.step].ids:
            assert f"- {SPACES[request.step].name_of(label, 'zh')}：" in text
        assert "甲：到了\n乙：等等\n甲：又下雨了" in text
        assert text.endswith("目标话语：\n你可真会挑时候。")
        assert f'{{"{KEYS[request.step]}": "<标签>"}}' in text


@pytest.mark.parametrize(
    ("setting", "shown"),
    [
        ("all", "甲：到了\n乙：等等\n甲：又下雨了"),
        ("2", "乙：等等\n甲：又下雨了"),
        ("9", "甲：到了\n乙：等等\n甲：又下雨了"),
    ],
)
def test_the_window_takes_the_last_turns(setting: str, shown: str) -> None:
    assert shown_context(ITEM, asking(context=setting)) == shown
    assert f"语境：\n{shown}\n\n目标话语" in said(ask("direct", context=setting)[0])


def test_a_record_without_context_says_so() -> None:
    alone = replace(ITEM, inputs={**ITEM.inputs, "context": ""})
    assert said(ask("direct", alone)[0]).endswith("[user] 语境：\n（无）\n\n目标话语：\n你可真会挑时候。")


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(("lang", "word"), [("zh", "语境"), ("en", "ontext")])
def test_where_no_context_is_shown_no_prompt_speaks_of_one(protocol: str, lang: str, word: str) -> None:
    assert shown_context(ITEM, asking(context="0")) is None
    for request in ask(protocol, context="0", lang=lang):
        text = said(request).replace("不附语境", "").replace("without its context", "")
        assert word not in text
        assert word in said(ask(protocol, lang=lang)[0])


@pytest.mark.parametrize(
    ("reply", "value", "flags"),
    [
        ('{"affective_stance": "正面"}', "positive", ()),
        ('{"affective_stance": "负面"}', "negative", ()),
        ('{"affective_stance": "反讽性消极"}', "sarcastic_negative", ()),
        ('{"情感立场": "讽刺性消极"}', "sarcastic_negative", ("other_key",)),
        ('{"立场": "报道性负面"}', "reportive_negative", ("other_key",)),
        ('{"stance": "Veiled Negative"}', "veiled_negative", ("other_key",)),
        ('{"标签": "中性"}', "neutral", ("other_key",)),
        ('{"affective_stance": "愤怒", "stance": "消极"}', None, ("out_of_space",)),  # its own key comes first
        ('{"mood": "消极"}', None, ()),
    ],
)
def test_what_chinese_models_commonly_write_is_read(reply: str, value: str | None, flags: tuple[str, ...]) -> None:
    found = read("direct", "stance", reply)["stance"]
    assert (found.value, found.flags) == (value, flags)


def test_other_names_of_a_field_in_a_chain() -> None:
    reply = (
        '{"显性倾向": "正面", "implicit": "负面", "立场": "讽刺性消极", "pragmatic_intent": "反讽", "情绪": "幸灾乐祸"}'
    )
    found = {slot: row.value for slot, row in read("matrix", "matrix", reply).items()}
    assert found == {
        "explicit": "positive", "implicit": "negative", "stance": "sarcastic_negative", "intent": "irony",
        "emotion": "morbidness", STATED: "sarcastic_negative",
    }  # fmt: skip
    # "label" says nothing where five things are asked.
    assert read("matrix", "matrix", '{"label": "中性"}')["emotion"].value is None


@pytest.mark.parametrize(
    "reply",
    [
        "Neutral",
        "Positive",
        "消极",
        "The explicit signal is positive and the implicit tendency is negative, so the stance is Sarcastic Negative.",
    ],
)
def test_prose_is_no_answer_where_five_things_are_asked(reply: str) -> None:
    assert {row.value for row in read("matrix", "matrix", reply).values()} == {None}


def test_lines_of_a_chain_answer_what_they_name_alone() -> None:
    found = read("matrix", "matrix", "显性倾向：中性\n隐性倾向：中性")
    assert {slot: row.value for slot, row in found.items() if row.value is not None} == {
        "explicit": "neutral", "implicit": "neutral", "stance": "neutral",
    }  # fmt: skip


def test_english_prompts_show_english_labels() -> None:
    text = said(ask("direct", lang="en")[0])
    assert "- Sarcastic Negative: " in text
    assert "讽刺" not in text


@pytest.mark.parametrize("protocol", BLIND)
@pytest.mark.parametrize("lang", ["zh", "en"])
@pytest.mark.parametrize("order", ["rotate", "fixed", "all"])
def test_what_is_asked_does_not_depend_on_gold(protocol: str, lang: str, order: str) -> None:
    other = replace(ITEM, gold=OTHER)
    assert ask(protocol, lang=lang, order=order) == ask(protocol, other, lang=lang, order=order)
    assert ask(protocol, lang=lang, order=order) == ask(protocol, replace(ITEM, gold={}), lang=lang, order=order)


@pytest.mark.parametrize(
    ("protocol", "known", "hidden"),
    [
        ("oracle-stance-intent", ["情感立场：讽刺性消极"], ["语用意图：", "细粒度情绪："]),
        ("oracle-stance-emotion", ["情感立场：讽刺性消极"], ["语用意图：", "细粒度情绪："]),
        ("oracle-stance-intent-emotion", ["情感立场：讽刺性消极", "语用意图：反讽"], ["细粒度情绪："]),
    ],
)
def test_oracles_give_away_what_they_say_and_no_more(protocol: str, known: list[str], hidden: list[str]) -> None:
    (request,) = ask(protocol)
    user = request.messages[-1].content
    assert user.endswith("已知的标注：\n" + "\n".join(known))
    assert not any(head in user for head in hidden)
    asked_for = request.step
    changed = {**ITEM.gold, asked_for: OTHER[asked_for]}
    assert ask(protocol, replace(ITEM, gold=changed)) == [request]


def test_an_oracle_without_its_gold_is_refused() -> None:
    with pytest.raises(UserError, match="'one' has no gold intent"):
        ask("oracle-stance-intent-emotion", replace(ITEM, gold={"stance": "neutral"}))


def test_matrix_goes_in_the_papers_order_and_shows_all_nine_cells() -> None:
    (request,) = ask("matrix")
    text = said(request)
    places = [text.index(f'"{KEYS[slot]}"') for slot in ("explicit", "implicit", "stance", "intent", "emotion")]
    assert places == sorted(places)
    assert text.count(" → ") == 10  # nine cells and the heading
    assert "- 积极 + 消极 → 讽刺性消极：" in text


def test_matrix_keeps_both_stances() -> None:
    reply = {"explicit_polarity": "Neutral", "implicit_polarity": "消极", "affective_stance": "Positive",
             "pragmatic_intent": "irony", "fine_grained_emotion": "轻蔑"}  # fmt: skip
    rows = read("matrix", "matrix", json.dumps(reply))
    assert {slot: row.value for slot, row in rows.items()} == {
        "explicit": "neutral",
        "implicit": "negative",
        "stance": "veiled_negative",  # φ(neutral, negative)
        "stated_stance": "positive",
        "intent": "irony",
        "emotion": "contempt",
    }
    assert rows["stated_stance"].gold == rows["stance"].gold == "sarcastic_negative"


def test_without_a_signal_there_is_no_stance_but_the_stated_one() -> None:
    rows = read(
        "matrix",
        "matrix",
        '{"explicit_polarity": "warm", "implicit_polarity": "Negative", "affective_stance": "Negative"}',
    )
    assert (rows["stance"].outcome, rows["stance"].value) == ("unparseable", None)
    assert rows["stated_stance"].value == "negative"
    assert rows["emotion"].outcome == "unparseable"


@pytest.mark.parametrize(
    ("reply", "outcome", "value"),
    [
        ('{"pragmatic_intent": "Irony"}', "ok", "irony"),
        ('```json\n{"pragmatic_intent": "反讽"}\n```', "ok", "irony"),
        ('{"Pragmatic Intent": "HUMOUR"}', "ok", "humor"),
        ('{"pragmatic_intent": "<标签>"}\n{"pragmatic_intent": "幽默"}', "ok", "humor"),  # an echo comes first
        ('她是在共情吧。不对，她在说反话。\n{"pragmatic_intent": "Irony"}', "ok", "irony"),  # the field beats prose
        ('[{"pragmatic_intent": "Irony"}]', "ok", "irony"),  # the published reader crashes on a list
        ('{"pragmatic_intent": "Sarcasm"}', "unparseable", None),
        ('{"pragmatic_intent": "Positive"}', "unparseable", None),  # a label of another task
        ('{"pragmatic_intent": "<标签>"}', "unparseable", None),
        ("", "empty", None),
    ],
)
def test_replies_are_read_by_the_final_field(reply: str, outcome: str, value: str | None) -> None:
    found = read("direct", "intent", reply)["intent"]
    assert (found.outcome, found.value) == (outcome, value)


def test_longer_stance_names_are_not_taken_for_the_shorter_they_hold() -> None:
    for label in SPACES["stance"].ids:
        for form in SPACES["stance"][label].forms:
            assert read("direct", "stance", json.dumps({"affective_stance": form}))["stance"].value == label, form


def test_likelihood_scores_every_label_in_the_order_shown() -> None:
    requests = ask("likelihood", order="rotate", lang="en")
    assert [len(request.options) for request in requests] == [9, 8, 25]
    stance = requests[0]
    assert stance.prefill == '{"affective_stance":'
    assert stance.options[0] == ' "Neutral"'  # the fifth of the declared order: the item's index is 4
    logprobs = [-9.0] * 9
    logprobs[2] = -1.0
    response = Response(None, "scored", logprobs=tuple(logprobs), option_tokens=(2,) * 9)
    (row,) = PROTOCOLS["likelihood"].read(ITEM, asking("rotate"), {("", "stance"): response})
    assert (row.value, row.position) == ("affiliative_positive", 2)
    assert row.detail["logprobs_per_token"]["affiliative_positive"] == -0.5


def test_every_cyclic_order_is_asked_and_read_through() -> None:
    assert Counter(request.step for request in ask("direct", order="all")) == {"stance": 9, "intent": 8, "emotion": 25}
    requests = ask("matrix", order="all")
    assert len(requests) == len({said(request) for request in requests}) == 25
    last = order_of(ITEM, "explicit", asking("all"), "order=24")
    assert list(last.values()) == ["positive", "neutral", "negative"]  # 24 turns of three are none
    assert next(iter(order_of(ITEM, "stance", asking("all"), "order=24").values())) == SPACES["stance"].ids[24 % 9]


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("seed", range(5))
def test_demonstrations_cover_the_three_kinds_of_affect(task: str, seed: int) -> None:
    shots = demonstrations(task, ITEM, seed)
    assert {kind(str(shot.gold["stance"])) for shot in shots} == set(KINDS)
    labels = [shot.gold[task] for shot in shots]
    assert len(set(labels)) == len(labels) == {"stance": 9, "intent": 8, "emotion": 5}[task]
    # The published code takes the first labels of the list.
    assert labels != list(SPACES[task].ids[: len(labels)])


def test_demonstrations_change_with_the_seed_and_not_with_the_item() -> None:
    drawn = {tuple(shot.id for shot in demonstrations("emotion", ITEM, seed)) for seed in range(8)}
    assert len(drawn) > 4
    assert demonstrations("emotion", ITEM, 0) == demonstrations("emotion", replace(ITEM, id="two", index=9), 0)


@pytest.mark.parametrize("task", TASKS)
def test_a_record_is_never_its_own_demonstration(task: str) -> None:
    for shot in demonstrations(task, ITEM, 3):
        for asked in (shot, replace(shot, id="another id")):  # by id, and by text and context
            own = {item.id for item in demonstrations(task, asked, 3)}
            assert shot.id not in own
            assert len(own) >= {"stance": 8, "intent": 7, "emotion": 5}[task]


@pytest.mark.parametrize("task", TASKS)
def test_a_record_with_another_mark_or_nearly_its_words_is_not_shown_either(task: str) -> None:
    for shot in demonstrations(task, ITEM, 3):
        words = str(shot.inputs["text"])
        for text in (f"{words}。", f"“{words}”！", f"{words}啊" if len(words) > 12 else words):
            asked = replace(shot, id="other", cluster="other", inputs={**shot.inputs, "text": text})
            assert shot.id not in {item.id for item in demonstrations(task, asked, 3)}, text
    assert demonstrations(task, replace(ITEM, inputs={"text": "别的话", "context": ""}), 3) == demonstrations(
        task, ITEM, 3
    )


def test_shots_are_turns_that_show_the_label_asked_for_only() -> None:
    intent = ask("few_shot")[1]
    roles = [message.role for message in intent.messages]
    assert roles == ["system", *["user", "assistant"] * 8, "user"]
    for message in intent.messages:
        if message.role == "assistant":
            assert set(json.loads(message.content)) == {"pragmatic_intent"}
    assert intent.messages[-1].content == ask("direct")[1].messages[-1].content


def test_demonstrations_come_from_a_file_of_the_users(tmp_path: Path) -> None:
    sample = files("affectlab.benchmarks.cue") / "sample.jsonl"
    path = tmp_path / "train.jsonl"
    path.write_text(sample.read_text(encoding="utf-8"), encoding="utf-8")
    items = load(str(path), {})
    asked = items[3]
    shown = said(ask("few_shot", asked, demos=str(path))[0])
    assert sum(str(item.inputs["text"]) in shown for item in items) == 10  # nine shown and the one asked about
    assert shown.count(str(asked.inputs["text"])) == 1
    assert not any(str(item.inputs["text"]) in shown for item in pool())


def written(path: Path, *changes: dict[str, Any]) -> Path:
    """The bundled demonstrations as a file of the user's, each changed by one of ``changes`` in turn."""
    bundled = files("affectlab.benchmarks.cue") / "demonstrations.jsonl"
    rows = [json.loads(line) for line in bundled.read_text(encoding="utf-8").splitlines()]
    told = [{**row, **changes[place % len(changes)]} for place, row in enumerate(rows)]
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in told), encoding="utf-8")
    return path


def test_no_record_of_the_items_own_source_is_shown(tmp_path: Path) -> None:
    # Every third record is cut from one source, which is the item's.
    path = written(tmp_path / "train.jsonl", {"source": "s"}, {"source": "t"}, {"source": "u"})
    for task in TASKS:
        shown = {
            own: {shot.cluster for seed in range(5) for shot in demonstrations(task, asked, seed, str(path))}
            for own in ("s", "v")
            for asked in [replace(ITEM, cluster=own)]
        }
        assert shown == {"s": {"t", "u"}, "v": {"s", "t", "u"}}


def test_a_file_that_was_written_since_is_read_again(tmp_path: Path) -> None:
    path = written(tmp_path / "train.jsonl", {})
    before = said(ask("few_shot", demos=str(path))[0])
    written(path, {"context": "甲：换过了"})
    after = said(ask("few_shot", demos=str(path))[0])
    assert "甲：换过了" not in before
    assert after.count("甲：换过了") == 9


def test_a_file_without_all_kinds_gives_no_demonstrations(tmp_path: Path) -> None:
    path = tmp_path / "train.jsonl"
    row = {"id": "1", "text": "好", "affective_stance": "Positive", "pragmatic_intent": "Humor",
           "fine_grained_emotion": "Delight"}  # fmt: skip
    path.write_text(json.dumps(row), encoding="utf-8")
    with pytest.raises(UserError, match="neutral_surface, contrastive"):
        ask("few_shot", demos=str(path))


def test_every_label_is_defined_in_both_languages() -> None:
    for slot, space in SPACES.items():
        assert tuple(DEFINITIONS[slot]) == space.ids
        for zh, en in DEFINITIONS[slot].values():
            assert any("\u4e00" <= mark <= "\u9fff" for mark in zh)
            assert en.isascii()
    for column in (0, 1):
        told = [pair[column] for slot in ("stance", "intent", "emotion") for pair in DEFINITIONS[slot].values()]
        assert len(set(told)) == len(told)
