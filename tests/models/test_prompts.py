from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("transformers", reason="local models need transformers")

from tests.support import tiny_models

from affectlab.errors import UserError
from affectlab.models import Message, Request
from affectlab.models.prompts import Prompter

TALK = (Message("system", "You label."), Message("user", "How does Ada feel?"))


def _request(*messages: Message, **fields: Any) -> Request:
    return Request("s1", "A", messages or TALK, **fields)


def test_the_template_is_applied_and_the_prefill_begins_the_assistants_turn() -> None:
    text = Prompter(tiny_models.tokenizer()).render(_request(prefill="Answer:"))
    assert text == "<s>system\nYou label.</s>\n<s>user\nHow does Ada feel?</s>\n<s>assistant\nAnswer:"


@pytest.mark.parametrize(
    "template",
    [tiny_models.NO_SYSTEM, tiny_models.CHAT.replace("{% for", "{% set messages = messages[-1:] %}{% for", 1)],
    ids=["refused", "left out"],
)
def test_a_system_message_goes_into_the_first_user_message_where_it_must(template: str) -> None:
    text = Prompter(tiny_models.tokenizer(template)).render(_request())
    assert text == "<s>user\nYou label.\n\nHow does Ada feel?</s>\n<s>assistant\n"


def test_messages_a_template_refuses_are_named() -> None:
    refusing = "{{ raise_exception('roles must alternate') }}"
    for messages in (TALK, TALK[1:]):
        with pytest.raises(UserError, match=r"refuses the messages .* of item 's1', step 'A': roles must alternate"):
            Prompter(tiny_models.tokenizer(refusing)).render(_request(*messages))


def test_without_a_template_the_prompt_is_a_transcript() -> None:
    prompter = Prompter(tiny_models.tokenizer(None))
    assert prompter.render(_request()) == "System: You label.\n\nUser: How does Ada feel?\n\nAssistant:"
    assert prompter.render(_request(prefill="She")).endswith("\n\nAssistant: She")
    assert prompter.render(_request(prefill="\nShe")).endswith("\n\nAssistant:\nShe")
    assert prompter.stop == ("\n\nUser:",)
    assert Prompter(tiny_models.tokenizer()).stop == ()


def test_there_is_never_a_second_bos() -> None:
    made = tiny_models.tokenizer(bos=True)
    prompter = Prompter(made)
    told = made.apply_chat_template(
        [{"role": m.role, "content": m.content} for m in TALK], add_generation_prompt=True, return_dict=False
    )
    assert list(prompter.tokens(prompter.render(_request()))) == told
    base = tiny_models.tokenizer(None, bos=True)
    plain = Prompter(base)
    ids = plain.tokens(plain.render(_request()))
    assert ids.count(base.bos_token_id) == 1
    assert ids[0] == base.bos_token_id
    without = Prompter(tiny_models.tokenizer(None))
    assert base.bos_token_id not in without.tokens(without.render(_request()))


@pytest.mark.parametrize("spaced", [False, True], ids=["byte-level", "SentencePiece-like"])
def test_options_keep_their_leading_space_or_its_absence(spaced: bool) -> None:
    made = tiny_models.tokenizer(spaced=spaced)
    prompter = Prompter(made)
    names = {option: made.convert_ids_to_tokens(list(prompter.option_tokens(option))) for option in (" A", "A")}
    space = "▁" if spaced else "Ġ"
    assert names == {" A": [f"{space}A"], "A": ["A"]}
    for option in (" joy", "joy", " A B", "fear, anger"):
        assert prompter.text(prompter.option_tokens(option)) == option


def test_what_no_tokenizer_takes_is_named() -> None:
    for template in (tiny_models.CHAT, None):
        prompter = Prompter(tiny_models.tokenizer(template))
        with pytest.raises(UserError, match=r"The text of item 's1', step 'A' holds '\\ud800', which is no character"):
            prompter.render(_request(Message("user", "a\ud800b")))
        with pytest.raises(UserError, match=r"The text of the option '\\ud800' holds"):
            prompter.option_tokens("\ud800")
        with pytest.raises(UserError, match=r"nothing to ask in item 's1', step 'A': it has no messages"):
            prompter.render(Request("s1", "A", ()))
