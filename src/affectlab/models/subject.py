"""A local model as steering sees it: the engine, what identifies the weights, and how text becomes tokens."""

from __future__ import annotations

from pathlib import Path

from affectlab.engine import Engine
from affectlab.errors import UserError
from affectlab.models import embedded
from affectlab.models.base import Message, Request
from affectlab.models.loading import Loaded
from affectlab.models.prompts import Prompter
from affectlab.models.settings import ModelSettings
from affectlab.models.spec import open_model
from affectlab.steering.subject import ModelIdentity, Subject, tokenizer_digest


def open_subject(spec: str, settings: ModelSettings) -> Subject:
    """Load the local model that ``spec`` names.

    Raises:
        UserError: When it is not a local model, or cannot be loaded.
        WorldError: When it has to be fetched and cannot be.
    """
    from affectlab.models.local import LocalModel

    if spec not in embedded.MODELS and not spec.startswith(("hf:", "gguf:")) and not Path(spec).expanduser().is_dir():
        raise UserError(
            f"Only a local model can be steered, and {spec!r} is none. Write {', '.join(embedded.MODELS)}, gguf:PATH, "
            "hf:ORG/NAME or a folder."
        )
    model = open_model(spec, settings)
    assert isinstance(model, LocalModel)
    return model.subject


def subject_of(loaded: Loaded, engine: Engine) -> Subject:
    """A loaded model and the engine that runs it, for steering."""
    prompter = Prompter(loaded.tokenizer, loaded.processor)
    identity = loaded.card.identity
    first = _first_token(loaded.tokenizer)

    def asked(question: str, prefill: str) -> tuple[int, ...]:
        return prompter.tokens(prompter.render(Request("", "", (Message("user", question),), prefill=prefill)))

    return Subject(
        engine=engine,
        identity=ModelIdentity(
            name=loaded.card.name,
            architecture=str(loaded.model.config.get_text_config().model_type),
            model=str(identity.get("sha256") or identity.get("revision") or loaded.card.spec),
            tokenizer=tokenizer_digest(loaded.tokenizer),
            n_layers=engine.n_layers,
            width=engine.width,
            layer_paths=tuple(engine.layer_paths),
        ),
        dtype=str(loaded.model.dtype).removeprefix("torch."),
        plain=lambda text: (*first, *prompter.plain(text)),
        asked=asked,
        option=prompter.option_tokens,
    )


def _first_token(tokenizer: object) -> tuple[int, ...]:
    """The token that the tokenizer puts before a text, if it puts one."""
    begin = getattr(tokenizer, "bos_token_id", None)
    ids = tokenizer("A")["input_ids"]  # type: ignore[operator]
    return (begin,) if begin is not None and ids[:1] == [begin] else ()
