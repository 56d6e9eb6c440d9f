"""From messages to the text and tokens a local model reads.

With a chat template, the prompt is what the template renders, up to where the assistant speaks, then the
prefill. A system message goes into the first user message, a blank line between them, when the template
refuses or leaves it out.

Without a template (base models), the prompt is a transcript::

    System: You label emotions.

    User: How does Ada feel?

    Assistant: I would say

in which the assistant's next turn is open, and generation ends where the model starts a user's turn of its
own.

A vision-language model's prompts, those without images too, are what its processor's template renders of turns in
parts: images, then text. The processor puts as many tokens in each image's place as it takes. A template that leaves
out text that is not in parts gets parts in any case.

What messages and options say is text: the name of a control token in it is read as letters (see
:mod:`affectlab.models.control`). A prefill is the protocol's own, and is read as it stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from affectlab.errors import UserError
from affectlab.models.base import Message, Request
from affectlab.models.control import MARK, ControlTokens
from affectlab.models.images import all_of, picture

_SPEAKERS = {"system": "System", "user": "User", "assistant": "Assistant"}
_TRANSCRIPT_STOP = ("\n\nUser:",)
_ANCHOR = "\n"
_PROBE = "How does Ada feel?"


class Prompter:
    """Renders and tokenises for one tokenizer, or for one processor and its tokenizer.

    Attributes:
        stop: Strings that end generation besides those of a request: none with a chat template.
    """

    def __init__(self, tokenizer: Any, processor: Any = None) -> None:
        """Wrap a transformers tokenizer, and the processor of a model that takes images."""
        self._tokenizer = tokenizer
        self._processor = processor
        self._template = processor is not None or bool(tokenizer.chat_template)
        self._in_parts = processor is not None or (self._template and not self._takes_text())
        self.stop: tuple[str, ...] = () if self._template else _TRANSCRIPT_STOP
        self._control = ControlTokens(tokenizer, self._written() if self._template else ())
        self._options: dict[str, tuple[int, ...]] = {}
        # SentencePiece-like tokenizers put a space before whatever they are given and drop it when they decode. Behind
        # a line break, which no merge crosses, they do neither.
        first = tokenizer.convert_ids_to_tokens(self._control.ids("A")[:1])
        self._anchor = _ANCHOR if first and first[0].startswith("▁") else ""
        self._anchor_ids = self._control.ids(self._anchor) if self._anchor else []

    def render(self, request: Request) -> str:
        """The prompt as text, prefill included, for :meth:`tokens`; :meth:`shown` is for people.

        Raises:
            UserError: When there is nothing to say, it is no Unicode text, the model's chat template refuses the
                conversation, or beside images a message names a control token: processors can only take it as one.
        """
        what = f"item {request.item!r}, step {request.step!r}"
        if not request.messages:
            raise UserError(f"There is nothing to ask in {what}: it has no messages.")
        _check_text(what, *(message.content for message in request.messages), request.prefill)
        messages = [replace(one, content=self._control.marked(one.content)) for one in request.messages]
        if all_of(messages) and any(MARK in one.content for one in messages):
            raise UserError(
                f"The text of {what} holds a control token of the model, such as the sign of an image; beside images "
                "that cannot be read as letters. Take it out of the data."
            )
        prefill = request.prefill.replace(MARK, MARK + MARK)
        if not self._template:
            turns = [f"{_SPEAKERS[message.role]}: {message.content}" for message in messages]
            gap = " " if prefill and not prefill[0].isspace() else ""
            return "\n\n".join([*turns, "Assistant:"]) + gap + prefill
        from jinja2 import TemplateError

        system = "\n\n".join(message.content for message in messages if message.role == "system")
        try:
            text = self._apply(messages)
            if system.strip() and system.strip() not in text:
                text = self._apply(_folded(messages, system))
        except TemplateError as refused:
            try:
                if not system:
                    raise
                text = self._apply(_folded(messages, system))
            except TemplateError:
                roles = ", ".join(message.role for message in messages)
                raise UserError(
                    f"The model's chat template refuses the messages ({roles}) of {what}: {refused}"
                ) from refused
        return text + prefill

    def shown(self, text: str) -> str:
        """A rendered prompt as it is kept and shown."""
        return self._control.shown(text)

    def tokens(self, text: str) -> tuple[int, ...]:
        """Ids of a rendered prompt.

        A tokenizer's template writes its own special tokens; a transcript gets the tokenizer's BOS, and so does what a
        processor's template begins without it.

        Raises:
            UserError: When the name of a control token in a message cannot be read as letters.
        """
        ids = self._control.ids(text)
        if self._opens(text):
            ids = [self._tokenizer.bos_token_id, *ids]
        return tuple(ids)

    def illustrated(self, request: Request, text: str) -> tuple[tuple[int, ...], dict[str, Any]]:
        """Ids of a rendered prompt with its images, and what goes into the model beside them.

        Args:
            request: What brings the images.
            text: What :meth:`render` made of it, with a mark for each image.

        Returns:
            Ids, with as many in an image's place as it takes; tensors by the name of the model's argument.

        Raises:
            UserError: When a file cannot be shown, or images and marks do not fit together.
        """
        try:
            made = self._processor(
                text=[text],
                images=[picture(path) for path in all_of(request.messages)],
                return_tensors="pt",
                add_special_tokens=self._opens(text),
                return_token_type_ids=False,
            )
        except (ValueError, TypeError, IndexError, StopIteration) as error:
            raise UserError(
                f"The model's processor refuses the images of item {request.item!r}, step {request.step!r}: {error}"
            ) from error
        inputs = dict(made)
        ids: list[int] = inputs.pop("input_ids")[0].tolist()
        del inputs["attention_mask"]
        return tuple(ids), inputs

    def _opens(self, text: str) -> bool:
        """Whether the tokenizer's BOS belongs before a rendered prompt."""
        bos = self._tokenizer.bos_token_id
        if bos is None or (self._template and self._processor is None):
            return False
        if self._processor is not None and text.startswith(self._tokenizer.bos_token):
            return False
        return bool(self._tokenizer("A")["input_ids"][:1] == [bos])

    def option_tokens(self, option: str) -> tuple[int, ...]:
        """Ids of an option, tokenised on its own, without special tokens and with its leading space as it
        stands.

        They are put behind the prompt's ids; the joined text is never tokenised again, so an option has the
        same tokens whatever it follows.

        Raises:
            UserError: When it has no tokens or is no Unicode text.
        """
        if option not in self._options:
            _check_text(f"the option {option!r}", option)
            ids = self.plain(self._anchor + option)[len(self._anchor_ids) :]
            if not ids:
                raise UserError(f"The option {option!r} has no tokens: it cannot be scored.")
            self._options[option] = ids
        return self._options[option]

    def plain(self, text: str) -> tuple[int, ...]:
        """Ids of a text of people's alone, without any special tokens."""
        return tuple(self._control.ids(self._control.marked(text)))

    def text(self, ids: Sequence[int]) -> str:
        """Generated ids as text, special tokens left out."""
        decoded: str = self._tokenizer.decode(
            [*self._anchor_ids, *ids], skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        return decoded[len(self._anchor) :]

    def _written(self) -> list[str]:
        """What the template makes of conversations, those that it takes."""
        from jinja2 import TemplateError

        said = Message("user", _PROBE), Message("assistant", _PROBE)
        found: list[str] = []
        for messages in (said[:1], (Message("system", _PROBE), said[0]), (*said, said[0])):
            with suppress(TemplateError):
                found.append(self._apply(messages))
        return found

    def _takes_text(self) -> bool:
        """Whether the template shows turns that are plain text; some of vision-language models leave their text out."""
        from jinja2 import TemplateError

        self._in_parts = False
        try:
            return _PROBE in self._apply([Message("user", _PROBE)])
        except TemplateError:
            return True

    def _apply(self, messages: Sequence[Message]) -> str:
        if self._in_parts:
            turns: list[dict[str, Any]] = [{"role": message.role, "content": _parts(message)} for message in messages]
        else:
            turns = [{"role": message.role, "content": message.content} for message in messages]
        renders = self._tokenizer if self._processor is None else self._processor
        text: str = renders.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
        return text


def _parts(message: Message) -> list[dict[str, str]]:
    """A turn as processors' templates take it."""
    return [*({"type": "image"} for _ in message.images), {"type": "text", "text": message.content}]


def _check_text(what: str, *texts: str) -> None:
    """Refuse what no tokenizer takes: half of a pair of surrogates, which stands for no character."""
    for text in texts:
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise UserError(
                f"The text of {what} holds {text[error.start]!r}, which is no character. Mend it in the data."
            ) from None


def _folded(messages: Sequence[Message], system: str) -> list[Message]:
    rest = [message for message in messages if message.role != "system"]
    images = all_of(message for message in messages if message.role == "system")
    if rest and rest[0].role == "user":
        return [Message("user", f"{system}\n\n{rest[0].content}", images + rest[0].images), *rest[1:]]
    return [Message("user", system, images), *rest]
