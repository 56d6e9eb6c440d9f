"""CUE-Bench's prompts in Chinese and in English, in our own words to the structure of Appendix G.

A system turn holds the task, the labels with their definitions, and the output format; a user turn holds the context
and the target. Keys of the answer are those of the release in both languages.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from affectlab.benchmarks.cue.definitions import definition
from affectlab.benchmarks.cue.settings import Language
from affectlab.benchmarks.prompt import PromptTemplate
from affectlab.labels import LabelSpace, load

SPACES: Mapping[str, LabelSpace] = {
    "explicit": load("cue_polarity3"),
    "implicit": load("cue_polarity3"),
    "stance": load("cue_stance9"),
    "intent": load("cue_intent8"),
    "emotion": load("cue_emotion25"),
}
KEYS = {
    "explicit": "explicit_polarity",
    "implicit": "implicit_polarity",
    "stance": "affective_stance",
    "intent": "pragmatic_intent",
    "emotion": "fine_grained_emotion",
}
OTHER_KEYS = {
    "explicit": ("显性倾向", "explicit"),
    "implicit": ("隐性倾向", "implicit"),
    "stance": ("情感立场", "立场", "stance"),
    "intent": ("语用意图", "意图", "intent"),
    "emotion": ("细粒度情绪", "情绪", "emotion"),
}
"""What replies write instead of a key of the release."""
ANY_KEY = ("label", "answer", "标签", "答案")
"""The same, where nothing else is asked."""
CHAIN = tuple(KEYS)
"""The order in which the matrix-guided reply goes (section 4.3)."""


@dataclass(frozen=True)
class Wording:
    """Everything a prompt says in one language.

    Attributes:
        task: System turn of one question.
        matrix: System turn of all five steps.
        questions: Slot -> what is asked.
        reads: What a model is told it will read, with context and (``--context 0``) without.
        given: What the speaker's leaning is told by, likewise.
        only: Format of a reply without reasoning.
        reasoned: Format of a reply with reasoning first.
        user: User turn.
        context: Its part with the context.
        no_context: What stands for an empty context.
        known: Heads the labels that are given away.
        heads: Slot -> its name in prose.
        label: Stands for the label in the format.
        cell: One cell of the stance matrix.
    """

    task: PromptTemplate
    matrix: PromptTemplate
    questions: Mapping[str, PromptTemplate]
    reads: tuple[str, str]
    given: tuple[str, str]
    only: PromptTemplate
    reasoned: PromptTemplate
    user: PromptTemplate
    context: PromptTemplate
    no_context: str
    known: str
    heads: Mapping[str, str]
    label: str
    cell: PromptTemplate


_TASK = ("reads", "question", "labels", "format")
_MATRIX = ("reads", "given", "signals", "cells", "intents", "emotions", "format")
_USER = ("context", "text", "known")
_CELL = ("explicit", "implicit", "stance", "definition")

ZH = Wording(
    task=PromptTemplate(
        "你将读到{reads}。{question}\n\n可选标签：\n{labels}\n\n{format}",
        _TASK,
    ),
    matrix=PromptTemplate(
        "你将读到{reads}。请按下面的顺序逐步判断，每一步都以前面的结果为依据。\n\n"
        "第一步，显性倾向：只看目标话语的字面表达了什么倾向。\n"
        "第二步，隐性倾向：{given}，说话人真正的倾向是什么。这两步的可选标签：\n{signals}\n\n"
        "第三步，情感立场：由前两步的结果查下表得到（显性 + 隐性 → 立场）。\n{cells}\n\n"
        "第四步，语用意图：说话人为什么这样说。可选标签：\n{intents}\n\n"
        "第五步，细粒度情绪：说话人此刻最贴切的一种情绪。可选标签：\n{emotions}\n\n{format}",
        _MATRIX,
    ),
    questions={
        "stance": PromptTemplate(
            "请判断说话人的情感立场：把字面表达的倾向和{given}推断出的真实倾向放在一起看。", ("given",)
        ),
        "intent": PromptTemplate("请判断说话人的语用意图：说话人为什么要这样说。", ()),
        "emotion": PromptTemplate(
            "请判断说话人此刻最贴切的一种情绪。要判断的是说话人自己的感受，不是听者或读者的感受；"
            "有依据时选最具体的标签，只有看不出具体情绪时才选中性。",
            (),
        ),
    },
    reads=("一段中文语境，以及说话人接下来说的一句话（目标话语）", "说话人说的一句中文（目标话语），不附语境"),
    given=("结合语境", "根据话语本身"),
    only=PromptTemplate("只输出一个 JSON 对象，标签照抄上面的写法，不要输出其他内容：\n{schema}", ("schema",)),
    reasoned=PromptTemplate(
        "先用几句话写出你的分析，最后另起一行，输出一个 JSON 对象作为最终答案，标签照抄上面的写法：\n{schema}",
        ("schema",),
    ),
    context=PromptTemplate("语境：\n{context}\n\n", ("context",)),
    user=PromptTemplate("{context}目标话语：\n{text}{known}", _USER),
    no_context="（无）",
    known="已知的标注：",
    heads={
        "explicit": "显性倾向",
        "implicit": "隐性倾向",
        "stance": "情感立场",
        "intent": "语用意图",
        "emotion": "细粒度情绪",
    },
    label="<标签>",
    cell=PromptTemplate("- {explicit} + {implicit} → {stance}：{definition}", _CELL),
)

EN = Wording(
    task=PromptTemplate(
        "You will read {reads}. {question}\n\nLabels:\n{labels}\n\n{format}",
        _TASK,
    ),
    matrix=PromptTemplate(
        "You will read {reads}. Decide step by step, in this order, each step resting on those before it.\n\n"
        "Step 1, explicit signal: how the bare words of the target lean.\n"
        "Step 2, implicit tendency: how the speaker really leans, {given}. Labels of both steps:\n"
        "{signals}\n\n"
        "Step 3, affective stance: look up what the first two steps make up (explicit + implicit → stance).\n"
        "{cells}\n\n"
        "Step 4, pragmatic intent: why the speaker puts it this way. Labels:\n{intents}\n\n"
        "Step 5, fine-grained emotion: the one emotion that fits the speaker best. Labels:\n{emotions}\n\n{format}",
        _MATRIX,
    ),
    questions={
        "stance": PromptTemplate(
            "Name the speaker's affective stance: how the words lean, taken together with how the speaker really "
            "leans {given}.",
            ("given",),
        ),
        "intent": PromptTemplate("Name the speaker's pragmatic intent: why the speaker puts it this way.", ()),
        "emotion": PromptTemplate(
            "Name the one emotion that fits the speaker best. It is what the speaker feels, not what a listener or "
            "reader may feel. Take the most specific label there is evidence for; take the label without emotion only "
            "when none can be told.",
            (),
        ),
    },
    reads=(
        "a piece of Chinese discourse and what a speaker says next in it (the target)",
        "what a speaker says in Chinese (the target), without its context",
    ),
    given=("given the context", "as far as the words tell"),
    only=PromptTemplate(
        "Reply with one JSON object and nothing else, with the label written as above:\n{schema}", ("schema",)
    ),
    reasoned=PromptTemplate(
        "First write your analysis in a few sentences. Then, on a line of its own, give one JSON object as your final "
        "answer, with the label written as above:\n{schema}",
        ("schema",),
    ),
    context=PromptTemplate("Context:\n{context}\n\n", ("context",)),
    user=PromptTemplate("{context}Target:\n{text}{known}", _USER),
    no_context="(none)",
    known="Known annotation:",
    heads={
        "explicit": "Explicit signal",
        "implicit": "Implicit tendency",
        "stance": "Affective stance",
        "intent": "Pragmatic intent",
        "emotion": "Fine-grained emotion",
    },
    label="<label>",
    cell=PromptTemplate("- {explicit} + {implicit} → {stance}: {definition}", _CELL),
)


def wording(language: Language) -> Wording:
    """The words of a language."""
    return ZH if language == "zh" else EN


def name(slot: str, label: str, language: Language) -> str:
    """A label as prompts and answers write it."""
    return SPACES[slot].name_of(label, language)


def answer(labels: Mapping[str, str], language: Language) -> str:
    """The JSON object that states some slots' labels."""
    return json.dumps({KEYS[slot]: name(slot, label, language) for slot, label in labels.items()}, ensure_ascii=False)


def schema(slots: Iterable[str], language: Language) -> str:
    """The JSON object of the output format, with a placeholder for each label."""
    return json.dumps({KEYS[slot]: wording(language).label for slot in slots}, ensure_ascii=False)


def label_lines(slot: str, labels: Iterable[str], language: Language) -> str:
    """Labels with their definitions, one a line."""
    colon = "：" if language == "zh" else ": "
    return "\n".join(f"- {name(slot, label, language)}{colon}{definition(slot, label, language)}" for label in labels)


def question(slot: str, labels: Iterable[str], language: Language, *, reasoned: bool, alone: bool) -> str:
    """System turn that asks for one slot; ``alone`` where the target is shown without any context."""
    words = wording(language)
    form = words.reasoned if reasoned else words.only
    return words.task.fill(
        reads=words.reads[alone],
        question=words.questions[slot].fill(given=words.given[alone]),
        labels=label_lines(slot, labels, language),
        format=form.fill(schema=schema([slot], language)),
    )


def all_steps(labels: Mapping[str, Iterable[str]], language: Language, *, alone: bool) -> str:
    """System turn that asks for all five, in order; ``labels`` gives each slot's labels in the order shown."""
    words = wording(language)
    stances = SPACES["stance"]
    cells = (
        words.cell.fill(
            explicit=name("explicit", stances[stance].parts[0], language),
            implicit=name("implicit", stances[stance].parts[1], language),
            stance=name("stance", stance, language),
            definition=definition("stance", stance, language),
        )
        for stance in labels["stance"]
    )
    return words.matrix.fill(
        reads=words.reads[alone],
        given=words.given[alone],
        signals=label_lines("explicit", labels["explicit"], language),
        cells="\n".join(cells),
        intents=label_lines("intent", labels["intent"], language),
        emotions=label_lines("emotion", labels["emotion"], language),
        format=words.only.fill(schema=schema(CHAIN, language)),
    )


def target(context: str | None, text: str, language: Language, known: Mapping[str, str] | None = None) -> str:
    """User turn: context (``None`` where none is shown to anybody), target, and the labels given away, if any."""
    words = wording(language)
    colon = "：" if language == "zh" else ": "
    given = [f"{words.heads[slot]}{colon}{name(slot, label, language)}" for slot, label in (known or {}).items()]
    return words.user.fill(
        context="" if context is None else words.context.fill(context=context or words.no_context),
        text=text,
        known="\n\n" + "\n".join([words.known, *given]) if given else "",
    )
