"""Control tokens in what people wrote, read as the letters they are.

A tokenizer makes one token of ``<|im_end|>`` wherever it stands: in an item's text too, which so could end its turn and
speak for the model. Here such a text is given to a second tokenizer, the same but for the names of its control tokens:
these it knows only by names that nobody can write. Texts without any take the usual way and have the usual tokens.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from affectlab.errors import UserError

MARK = "\ufdd0"
"""Stands before a control token's name that is meant as letters. Unicode keeps it for uses such as this one; where a
text has it nevertheless, it is doubled."""


_SIGN = re.compile(r"\W.*\w.*\W")
"""What a token that marks turns looks like, where a tokenizer does not call it special: ``<start_of_turn>``."""


class ControlTokens:
    """The control tokens of one tokenizer: those it calls special, and signs that its chat template writes."""

    def __init__(self, tokenizer: Any, written: Sequence[str] = ()) -> None:
        """Find them.

        Args:
            tokenizer: A transformers tokenizer.
            written: Prompts that its chat template rendered.
        """
        self._tokenizer = tokenizer
        self._names: dict[str, int] = {
            token.content: number
            for number, token in tokenizer.added_tokens_decoder.items()
            if (token.special and token.content)
            or (_SIGN.fullmatch(token.content) and token.content in "".join(written))
        }
        names = "|".join(map(re.escape, sorted(self._names, key=len, reverse=True))) or r"(?!)"
        self._meant = re.compile(f"{MARK}|{names}")
        self._read = re.compile(f"{MARK}(?:(?P<mark>{MARK})|(?P<letters>{names}))?|(?P<control>{names})")

    def marked(self, text: str) -> str:
        """A text that people wrote, with a mark before each name of a control token."""
        return self._meant.sub(lambda found: MARK + found[0], text)

    def shown(self, text: str) -> str:
        """A text without its marks."""
        return re.sub(f"{MARK}({MARK}?)", r"\1", text) if MARK in text else text

    def ids(self, text: str) -> list[int]:
        """Ids of a text whose marked names are letters; without marks, just as the tokenizer reads it.

        Raises:
            UserError: When the tokenizer cannot be made to read them so.
        """
        if MARK not in text:
            return self._usual(text)
        found = self._ids(text, lambda letters: letters)
        # The second tokenizer must be the first one in all else.
        if found is None or self._ids(text, lambda _: " ") != self._usual(self._spelled(text, lambda _: " ", str)):
            first = next((one["letters"] for one in self._read.finditer(text) if one["letters"]), MARK)
            raise UserError(
                f"A text holds {first!r}, a control token of this model, and its tokenizer cannot read that as plain "
                f"letters. Take it out of the data: {self.shown(text)[:200]!r}"
            )
        return found

    def _usual(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer(text, add_special_tokens=False)["input_ids"]
        return ids

    def _spelled(self, text: str, letters: Callable[[str], str], control: Callable[[str], str]) -> str:
        """A marked text with what its marked names, and its control tokens, are written as."""

        def written(found: re.Match[str]) -> str:
            if found["control"] is not None:
                return control(found["control"])
            # A mark whose name a template took away goes with it.
            return letters(found["letters"]) if found["letters"] else found["mark"] or ""

        return self._read.sub(written, text)

    def _ids(self, text: str, letters: Callable[[str], str]) -> list[int] | None:
        """What the second tokenizer reads; ``None`` without one."""
        if self._second is None:
            return None
        reader, numbers = self._second
        read = reader.encode(self._spelled(text, letters, self._hidden), add_special_tokens=False)
        return [numbers.get(one, one) for one in read.ids]

    @cached_property
    def _secret(self) -> str:
        return secrets.token_hex(8)

    def _hidden(self, name: str) -> str:
        """A control token's name in the second tokenizer."""
        return f"\ufdd1{self._secret}:{self._names[name]}\ufdd1"

    @cached_property
    def _second(self) -> tuple[Any, dict[int, int]] | None:
        """The second tokenizer, and its own numbers of added tokens with the usual ones; ``None`` if there is none."""
        backend = getattr(self._tokenizer, "backend_tokenizer", None)
        if backend is None:
            return None
        made = json.loads(backend.to_str())
        made |= {"post_processor": None, "truncation": None, "padding": None}
        usual = {token["content"]: token["id"] for token in made["added_tokens"]}

        def called(name: str) -> str:
            return self._hidden(name) if name in self._names else name

        for token in made["added_tokens"]:
            token["content"] = called(token["content"])
        model = made["model"]
        # Models may hold control tokens as pieces too, which letters could be put together to.
        if isinstance(model["vocab"], dict):
            model["vocab"] = {called(piece): number for piece, number in model["vocab"].items()}
        else:
            model["vocab"] = [[called(piece), score] for piece, score in model["vocab"]]
        if model.get("unk_token"):
            model["unk_token"] = called(model["unk_token"])
        if model.get("merges"):
            pairs = ((pair, pair.split(" ") if isinstance(pair, str) else pair) for pair in model["merges"])
            model["merges"] = [pair for pair, parts in pairs if not {*parts, "".join(parts)} & self._names.keys()]
        try:
            reader = type(backend).from_str(json.dumps(made))
        except Exception:  # noqa: BLE001 - tokenizers raises nothing narrower
            return None
        numbers = ((reader.token_to_id(called(name)), number) for name, number in usual.items())
        return reader, {own: number for own, number in numbers if own is not None}
