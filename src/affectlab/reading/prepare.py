"""From a raw reply to text that the readers work on: characters folded, reasoning set apart.

Every reader starts here, so that one reply means the same to all of them.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

_MARKS: Final = "\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff"
# Sorting one long run of combining marks is quadratic in NFKC: no script needs more than a few on one letter.
_LONG_MARKS: Final = re.compile(f"([{_MARKS}]{{8}})[{_MARKS}]+")

_INVISIBLE: Final = (
    (0x00AD, 0x034F, 0x061C, 0x115F, 0x1160, 0x180E, 0xFEFF, 0x20E3, 0xFE0E, 0xFE0F),
    range(0x200B, 0x2010),
    range(0x202A, 0x202F),
    range(0x2060, 0x2070),
    range(0xE0000, 0xE0080),
)
_SAME: Final = {"\n": "\u2028\u2029\x85", "'": "\u2018\u2019\u201b\u2032\u02bc", '"': "“”„‟", ".": "。", ",": "、"}
_FOLD: Final[dict[int, str | None]] = {
    **{code: None for codes in _INVISIBLE for code in codes},
    **{ord(char): plain for plain, chars in _SAME.items() for char in chars},
    # Letters in black circles and squares have no compatibility form in Unicode, unlike those in white ones.
    **{start + i: chr(65 + i) for start in (0x1F150, 0x1F170) for i in range(26)},
}
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
_LINE_ENDS: Final = re.compile(r"\r\n?|[\x0b\x0c]")

_NAMES: Final = r"(?:seed:|ant)?(?:think(?:ing)?|thoughts?|reason(?:ing)?|analysis|reflection|scratchpad|rationale|cot)"
_TAG: Final = re.compile(
    rf"[<＜◁]\s?(?P<close>/?)\s?{_NAMES}(?:\s[^<>\n]{{0,80}})?[>＞▷]"
    r"|\[(?P<close2>/?)THINK\]"
    r"|<\|(?:(?P<end>end)|begin|START|(?P<end2>END))_(?:of_thought|THINKING)\|>",
    re.IGNORECASE,
)
_TAG_HINT: Final = re.compile(r"[<＜◁]|\[/?think\]", re.IGNORECASE)
_CHANNEL: Final = re.compile(r"<\|channel\|>\s?(\w{1,20})[^<]{0,80}<\|message\|>")
_PLAIN_CHANNELS: Final = re.compile(r"\A\s*analysis.*assistant\s?final", re.DOTALL)
_TURN_END: Final = re.compile(
    r"<\|(?:im_end|eot_id|endoftext|end|return|eom_id|END_OF_TURN_TOKEN)\|>|<end_of_turn>|</s>|<eos>"
)
_SPECIAL: Final = re.compile(r"<\|[A-Za-z_]{1,40}\|>|<(?:bos|start_of_turn|s|pad|unk)>")


@dataclass(frozen=True, slots=True)
class Prepared:
    """A reply ready to be read.

    Attributes:
        text: What was said outside reasoning: NFKC, without invisible characters, ``\\n`` line ends, straight quotes.
        verbatim: The same part of the reply as the model wrote it (stripped), for free text.
        reasoning: Reasoning blocks, as written.
        unclosed: Reasoning began and never ended.
        at_limit: The reply was cut at the token limit (``finish == "length"``).
        withheld: The server withheld the reply (``finish == "filter"``).
    """

    text: str
    verbatim: str
    reasoning: str
    unclosed: bool
    at_limit: bool
    withheld: bool

    @property
    def truncated(self) -> bool:
        """Whether the reply may have ended before its answer."""
        return self.unclosed or self.at_limit


def prepare(text: str | None, finish: str = "stop") -> Prepared:
    """Set reasoning apart and fold characters. Linear in the length of the reply.

    Reasoning is ``<think>`` and its kin (``thinking``, ``reasoning``, ``◁think▷``, ``[THINK]``, harmony channels …);
    blocks may nest; text before a closing tag without an opening one is reasoning; a block that never closes takes
    the rest of the reply with it.

    Args:
        text: The reply as it came, or ``None`` when the server sent none.
        finish: Why generation ended: ``stop``, ``length``, ``filter`` or ``scored``.
    """
    at_limit, withheld = finish == "length", finish == "filter"
    if not text:
        return Prepared("", "", "", False, at_limit, withheld)
    said, reasoning, unclosed = _split_reasoning(text, at_limit)
    if "<" in said:
        said = _one_turn(said)
    return Prepared(fold(said).strip(), said.strip(), reasoning, unclosed, at_limit, withheld)


def fold(text: str) -> str:
    """NFKC, one kind of quote and line end, no invisible or control characters."""
    if not text.isascii():
        text = text.translate(_FOLD)
        text = unicodedata.normalize("NFKC", _LONG_MARKS.sub(r"\1", text)).translate(_FOLD)
    if "\r" in text or "\x0b" in text or "\x0c" in text:
        text = _LINE_ENDS.sub("\n", text)
    return text if text.isprintable() else _CONTROLS.sub("", text)


def _split_reasoning(text: str, at_limit: bool) -> tuple[str, str, bool]:
    """What was said, what was thought, and whether thinking never ended."""
    if "<|channel|>" in text:
        return _split_channels(text)
    if text.lstrip()[:8] == "analysis" and (found := _PLAIN_CHANNELS.match(text)):
        return text[found.end() :], text[: found.end()], False
    if not _TAG_HINT.search(text):
        return text, "", False
    said: list[str] = []
    thought: list[str] = []
    depth, start, last_closes = 0, 0, False
    for tag in _TAG.finditer(text):
        piece, start = text[start : tag.start()], tag.end()
        last_closes = any(tag.group(name) for name in ("close", "close2", "end", "end2"))
        (thought if depth else said).append(piece)
        if not last_closes:
            depth += 1
        elif depth:
            depth -= 1
        else:
            thought.extend(said)
            said.clear()
    # Templates that open a block make some models open it twice: the last closing tag then ends both.
    unclosed = depth > 0 and (at_limit or not last_closes)
    (thought if unclosed else said).append(text[start:])
    return "\n".join(said), "\n".join(thought), unclosed


def _split_channels(text: str) -> tuple[str, str, bool]:
    """Harmony: the last ``final`` channel is what was said."""
    final = None
    for channel in _CHANNEL.finditer(text):
        if channel.group(1) == "final":
            final = channel
    if final is None:
        return "", text, True
    return text[final.end() :], text[: final.start()], False


def _one_turn(text: str) -> str:
    """Drop special tokens, and whatever a model went on to write after its own turn."""
    end = _TURN_END.search(text)
    while end is not None and not text[: end.start()].strip():
        text = text[end.end() :]
        end = _TURN_END.search(text)
    if end is not None:
        text = text[: end.start()]
    return _SPECIAL.sub("", text)
