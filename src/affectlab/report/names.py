"""Ids of figures as people read them."""

from __future__ import annotations

import re

_ACRONYMS = {"f1": "F1", "rmse": "RMSE", "ndm": "NDM", "nad": "NAD", "auc": "AUC", "qwk": "QWK", "mcc": "MCC"}
_ID = re.compile(r"[a-z0-9]+([_:][a-z0-9]+)+")


def figure_name(name: str) -> str:
    """A figure's name for people. What follows a colon is the part of the data it is about.

    >>> figure_name("macro_f1"), figure_name("joint_accuracy"), figure_name("macro_f1:non_physical")
    ('Macro-F1', 'Joint accuracy', 'Macro-F1, non physical')
    """
    text = ", ".join(map(_words, name.split(":")))
    return text[:1].upper() + text[1:]


def heading_name(heading: str) -> str:
    """A table's heading for people: ids are spelled out, anything else stays as it is.

    >>> heading_name("macro_f1"), heading_name("share chosen")
    ('Macro-F1', 'share chosen')
    """
    return figure_name(heading) if _ID.fullmatch(heading) else heading


def row_name(row: str) -> str:
    """The id of a part of the data for people.

    >>> row_name("zero_sum"), row_name("Act_1 B")
    ('zero sum', 'Act_1 B')
    """
    return row.replace("_", " ") if _ID.fullmatch(row) else row


def same_figure(one: str, other: str) -> bool:
    """Whether two ids or names mean the same figure.

    >>> same_figure("macro_f1", "Macro-F1")
    True
    """
    return _plain(one) == _plain(other)


def _words(name: str) -> str:
    words = [_ACRONYMS.get(word, word) for word in name.split("_") if word]
    return " ".join(words).replace("macro F1", "macro-F1").replace("micro F1", "micro-F1")


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]+", " ", name).casefold()
