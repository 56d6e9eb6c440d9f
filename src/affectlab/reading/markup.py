"""Markdown, LaTeX and HTML around an answer: taken off, with what marks an answer kept as words."""

from __future__ import annotations

import re
from typing import Final

_HINT: Final = re.compile(r"[`*_~#\\$<>|{\n\t\u00a0]|  |^\s*[-+•·●▪◦]")
_FENCE: Final = re.compile(r"^[ \t]*(?:```+|~~~+)[ \t]*[\w+-]{0,20}[ \t]*$|```+(?:\w{1,12}\n)?", re.MULTILINE)
_STRUCK: Final = re.compile(r"~~[^~\n]{0,400}~~|<(?:s|del|strike)>[^<\n]{0,400}</(?:s|del|strike)>", re.IGNORECASE)
_LATEX_TEXT: Final = re.compile(
    r"\\(?:text|textbf|textit|textrm|textsf|texttt|mathrm|mathbf|mathit|mathsf|mbox|operatorname|emph|rm|bf)\*?\s*"
    r"\{([^{}]{0,400})\}"
)
_BOXED: Final = re.compile(r"\\f?(?:boxed|box)\s*(?:\{((?:[^{}]|\{[^{}]{0,400}\}){0,400})\}|\s([A-Za-z0-9])\b)")
_LATEX_LEFT: Final = re.compile(r"\$|\\[()\[\],;! ]|\\(?:quad|qquad|left|right|displaystyle)\b")
_ANSWER_TAG: Final = re.compile(
    r"<(?:final[_ ]?)?(?:answer|choice|output|response|result|label|emotion)s?>"
    r"|<\|begin_of_(?:box|solution)\|>",
    re.IGNORECASE,
)
_ANSWER_END: Final = re.compile(
    r"</(?:final[_ ]?)?(?:answer|choice|output|response|result|label|emotion)s?>|<\|end_of_(?:box|solution)\|>",
    re.IGNORECASE,
)
_HTML_BREAK: Final = re.compile(r"<(?:br|/p|/li|/div|/tr|/h[1-6])\s?/?>", re.IGNORECASE)
_HTML: Final = re.compile(
    r"</?(?:b|i|u|em|strong|p|span|div|ul|ol|li|code|pre|mark|center|h[1-6]|td|th|tr|table)"
    r"(?:\s[^<>\n]{0,200})?>",
    re.IGNORECASE,
)
_EMPHASIS: Final = re.compile(r"\*+|`+|(?<![A-Za-z0-9])_+|_+(?![A-Za-z0-9])")
_RULE_LINE: Final = re.compile(r"^[ \t|:=_-]{3,}+$", re.MULTILINE)
_LINE_HEAD: Final = re.compile(r"^[ \t]*(?:(?:[>•·●▪◦]|[-+*](?=[ \t]|\*\*)|#+(?=[ \t]|\w))[ \t]*)+", re.MULTILINE)
_PIPE_EDGE: Final = re.compile(r"^ ?\| ?| ?\| ?$", re.MULTILINE)
_PIPE: Final = re.compile(r" ?\| ?")
_SPACES: Final = re.compile(r"[ \t\u00a0\u2000-\u200a\u3000]+")
_LINE_EDGES: Final = re.compile(r" ?\n ?")


def plain(text: str) -> str:
    """The words of a folded reply: no fences, emphasis, headings, bullets, tables or LaTeX; single spaces.

    What marks an answer by markup (``\\boxed{B}``, ``<answer>B</answer>``) becomes a line ``Answer: B``;
    struck-out text goes.
    """
    if not _HINT.search(text):
        return text
    if "```" in text or "~~~" in text:
        text = _FENCE.sub("\n", text)
    if "~~" in text or "<" in text:
        text = _STRUCK.sub("", text)
    if "\\" in text or "$" in text:
        text = _unlatex(text)
    if "<" in text:
        text = _ANSWER_END.sub("\n", _ANSWER_TAG.sub("\nAnswer: ", text))
        if "</" in text:  # a lone <B> is an answer in the brackets of a format line
            text = _HTML.sub("", _HTML_BREAK.sub("\n", text))
    text = _RULE_LINE.sub("", text)
    text = _LINE_HEAD.sub("", text)
    text = _EMPHASIS.sub("", text)
    text = _LINE_HEAD.sub("", text)
    text = _SPACES.sub(" ", text)
    if "|" in text:
        text = _PIPE.sub(": ", _PIPE_EDGE.sub("", text))
    return _LINE_EDGES.sub("\n", text).strip()


def _unlatex(text: str) -> str:
    for _ in range(3):
        text, count = _LATEX_TEXT.subn(r"\1", text)
        if not count:
            break
    text = _BOXED.sub(lambda box: f"\nAnswer: {box.group(1) or box.group(2) or ''}\n", text)
    return _LATEX_LEFT.sub("", text)
