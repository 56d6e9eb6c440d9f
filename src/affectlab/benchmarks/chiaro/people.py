"""Who acts in a sentence, and whether two roles tell two people apart: heuristics for English scenes.

They read word forms only. What they miss or take wrongly is written down in ``docs/chiaro-scenes.md``.
"""

from __future__ import annotations

import re
from functools import cache

from affectlab.benchmarks.chiaro.lexicon import word_lists

MOST_PEOPLE = 2
"""People who may drive the action of a scene (Appendix E, check 4)."""

MOST_OVERLAP = 0.5
"""Share of two roles' words in common from which on the roles count as one (Jaccard index)."""

_TOKEN = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*|[^\w\s]")
_SENTENCE_END = frozenset(".!?:;")
_IDENTIFYING = frozenset({"the", "his", "her", "their", "this", "that"})
_UNIDENTIFYING = frozenset({"a", "an", "another", "one", "and"})


def acting_people(sentence: str) -> tuple[str, ...]:
    """Folded names, and heads of noun phrases, of the people who are identified and act in a sentence.

    A name counts wherever it stands, except right after a preposition, which makes it a place or a mention in
    passing. A person noun counts when it is definite (``the``, ``her`` …) and a third-person verb follows:
    ``a steward`` is not identified, and ``past the steward`` does not act.

    Returns:
        Each once, in the order of first mention.
    """
    tokens = _TOKEN.findall(sentence)
    found = [_person(tokens, position) for position in range(len(tokens))]
    return tuple(dict.fromkeys(person for person in found if person))


def bystanders(sentence: str, role_a: str, role_b: str) -> tuple[str, ...]:
    """Acting people of a sentence who share no word with either role."""
    agents = set(role_words(role_a)) | set(role_words(role_b))
    return tuple(person for person in acting_people(sentence) if agents.isdisjoint(person.split()))


def role_words(role: str) -> tuple[str, ...]:
    """Folded words of a role without stopwords, in order."""
    return tuple(word for word in _folded(role) if word not in _words("stopwords") | _words("prepositions"))


def role_prefix(role: str) -> tuple[str, ...]:
    """Folded words of a role up to its first relative clause, preposition or comma, without stopwords.

    ``the older cousin in the doorway`` has the prefix ``older cousin``.
    """
    head = re.split(r"[,;(\u2013\u2014]", role, maxsplit=1)[0]
    words: list[str] = []
    for word in _folded(head):
        if word in _words("tail") | _words("prepositions"):
            break
        if word not in _words("stopwords") | _words("prepositions"):
            words.append(word)
    return tuple(words)


def role_collision(role_a: str, role_b: str) -> str | None:
    """Why two roles cannot be told apart from their prefixes, or ``None`` when they can.

    They collide when a prefix is empty, when one prefix holds all words of the other (``the student``,
    ``the tall student``), or when the roles have at least half of all their words in common.
    """
    prefixes = set(role_prefix(role_a)), set(role_prefix(role_b))
    if not all(prefixes):
        return "a role without a word that says who it is"
    if prefixes[0] <= prefixes[1] or prefixes[1] <= prefixes[0]:
        first, second = " ".join(role_prefix(role_a)), " ".join(role_prefix(role_b))
        return f"nothing in {first!r} and {second!r} tells them apart"
    words = set(role_words(role_a)), set(role_words(role_b))
    common = words[0] & words[1]
    if len(common) >= MOST_OVERLAP * len(words[0] | words[1]):
        return f"the roles share most of their words ({', '.join(sorted(common))})"
    return None


def _folded(text: str) -> list[str]:
    words = (token.casefold().replace("\u2019", "'") for token in _TOKEN.findall(text) if token[0].isalnum())
    return [word.removesuffix("'s") for word in words]


@cache
def _words(name: str) -> frozenset[str]:
    return frozenset(word_lists()["people"][name])


def _person(tokens: list[str], position: int) -> str | None:
    word = tokens[position]
    folded = word.casefold().replace("\u2019", "'").removesuffix("'s")
    if word[0].isupper() and not (word.isupper() and len(word) > 1) and folded not in _words("not_names"):
        if _opens(tokens, position):
            named = folded not in _words("openers") | _IDENTIFYING and _is_subject(tokens, position)
        else:
            before = tokens[position - 1]
            second_name = before[0].isupper() and not _opens(tokens, position - 1)
            named = before.casefold() not in _words("prepositions") and not second_name
        return folded if named else None
    if folded in _words("nouns") and folded == word.casefold() and _is_definite(tokens, position):
        return folded if _is_subject(tokens, position) else None
    return None


def _opens(tokens: list[str], position: int) -> bool:
    return position == 0 or tokens[position - 1] in _SENTENCE_END


def _is_definite(tokens: list[str], position: int) -> bool:
    for place in range(position - 1, max(-1, position - 5), -1):
        word = tokens[place].casefold()
        if word in _IDENTIFYING or word.endswith(("'s", "\u2019s")):
            # "by his late wife", "the hat of the groom": mentioned, not acting.
            return place == 0 or tokens[place - 1].casefold() not in _words("prepositions")
        if not word[0].isalnum() or word in _words("prepositions") | _UNIDENTIFYING:
            return False
    return False


def _is_subject(tokens: list[str], position: int) -> bool:
    rest = [token for token in tokens[position + 1 : position + 4] if not token.endswith("ly")]
    if not rest:
        return False
    following = rest[0]
    if following in {",", "and"}:
        # A list of names: "Ana, Ben and Carl argue".
        return len(rest) > 1 and rest[1][0].isupper() and tokens[position][0].isupper()
    if tokens[position].endswith(("'s", "\u2019s")):
        return tokens[position][0].isupper()
    verb = following.casefold()
    ends_like_verb = (
        verb.endswith("s") and not verb.endswith(("ss", "'s", "\u2019s")) and verb not in _words("no_verbs")
    )
    return verb in _words("auxiliaries") or (ends_like_verb and following.islower())
