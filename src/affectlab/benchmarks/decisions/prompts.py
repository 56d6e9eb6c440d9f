"""How a decision is put, in our own words: task and reply format in the system turn, the story in the user turn.

The frame is in the language of the decision where there is one for it, else in English, which the loader notes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from affectlab.items import Item


@dataclass(frozen=True, slots=True)
class Frame:
    """Everything around a decision, in one language.

    Attributes:
        task: What is asked of the model.
        direct: How to reply without reasoning.
        reasoned: How to reply with reasoning first.
        earlier: What stands above earlier rounds.
        question: What is asked when a decision has no question of its own.
        answer: What the assistant's turn starts with when options are scored.
        gap: What stands between it and a letter.
    """

    task: str
    direct: str
    reasoned: str
    earlier: str
    question: str
    answer: str
    gap: str = " "


FRAMES: Mapping[str, Frame] = MappingProxyType(
    {
        "en": Frame(
            task="You will read about a situation that you are in. Decide what you do, and choose one of the options.",
            direct="Reply with exactly one line and nothing more:\nANSWER: <letter>",
            reasoned=(
                "First think it through in a few sentences: what each option can lead to, and what the others may do. "
                "Then end your reply with exactly this line:\nANSWER: <letter>"
            ),
            earlier="What has happened so far:",
            question="What do you do?",
            answer="ANSWER:",
        ),
        "zh": Frame(
            task="你将读到一个你身处其中的情境。请决定你怎么做，并从选项中选择一个。",
            direct="只用一行回答，不要写别的内容：\n答案：<字母>",
            reasoned=(
                "先用几句话想清楚：每个选项会带来什么，其他人可能怎么做。然后用下面这一行结束你的回答：\n答案：<字母>"
            ),
            earlier="此前发生的事：",
            question="你怎么做?",
            answer="答案：",
            gap="",
        ),
    }
)
"""By language code."""


def frame(item: Item) -> Frame:
    """The frame of a decision's language, English where there is none."""
    return FRAMES.get(item.slices["language"], FRAMES["en"])


def story(item: Item, lines: str) -> str:
    """The user turn: story, earlier rounds, question, options.

    Args:
        item: The decision.
        lines: Its options as they are shown.
    """
    words = frame(item)
    history: Sequence[str] = item.inputs.get("history", ())
    rounds = "\n".join(f"{number}. {text}" for number, text in enumerate(history, start=1))
    parts = (
        str(item.inputs["scenario"]),
        f"{words.earlier}\n{rounds}" if rounds else "",
        f"{item.inputs.get('question') or words.question}\n{lines}",
    )
    return "\n\n".join(filter(None, parts))
