"""Ids of figures as people read them."""

from __future__ import annotations

import re

_ACRONYMS = {
    "f1": "F1",
    "rmse": "RMSE",
    "mae": "MAE",
    "ndm": "NDM",
    "nad": "NAD",
    "auc": "AUC",
    "qwk": "QWK",
    "mcc": "MCC",
    "cooccurrence": "co-occurrence",
}
_NAMES = {
    "mu_mae": "μ-MAE",
    "sigma_mae": "σ-MAE",
    "variance_rho": "Spearman's ρ of variances",
    "appraisal_r": "Pearson's r of appraisal shifts",
}
"""Figures that papers write otherwise than their ids would be spelled out."""
_GREEK = frozenset("μσρ")
"""Letters that would be others as capitals."""
_ID = re.compile(r"[a-z0-9]+([_:][a-z0-9]+)+")
_HEADING = re.compile(rf"({_ID.pattern})(, .*)?")


def figure_name(name: str) -> str:
    """A figure's name for people. What follows a colon is the part of the data it is about.

    >>> figure_name("macro_f1"), figure_name("joint_accuracy"), figure_name("macro_f1:non_physical")
    ('Macro-F1', 'Joint accuracy', 'Macro-F1, non physical')
    """
    text = ", ".join(_NAMES.get(part) or _words(part) for part in name.split(":"))
    return text if text[:1] in _GREEK else text[:1].upper() + text[1:]


def heading_name(heading: str) -> str:
    """A table's heading for people: ids are spelled out, anything else stays as it is.

    >>> heading_name("macro_f1, left out"), heading_name("share chosen")
    ('Macro-F1, left out', 'share chosen')
    """
    found = _HEADING.fullmatch(heading)
    return f"{figure_name(found[1])}{found[3] or ''}" if found else heading


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
    return re.sub(r"[\s_-]+", " ", figure_name(name)).casefold()
