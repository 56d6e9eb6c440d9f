"""The one cleaning step for text of public corpora. Callers keep the raw text beside the cleaned view."""

from __future__ import annotations

from html import unescape

_WRITTEN_OUT = (("\\r\\n", "\n"), ("\\n", "\n"), ("_comma_", ","))


def unescape_text(raw: str) -> str:
    """Undoes the escapes that corpora leave in their text, and nothing else.

    HTML entities become characters (once: ``&amp;lt;`` becomes ``&lt;``), a written-out ``\\n`` becomes a line
    break (TweetEval), ``_comma_`` becomes a comma (EmpatheticDialogues), and white space at both ends goes.
    User-name masks, case and punctuation stay.

    Args:
        raw: Text as the corpus has it.

    Returns:
        The cleaned view.
    """
    text = unescape(raw)
    for escaped, meant in _WRITTEN_OUT:
        text = text.replace(escaped, meant)
    return text.strip()
