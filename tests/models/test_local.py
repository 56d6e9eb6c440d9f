from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="local models need torch")
pytest.importorskip("transformers", reason="local models need transformers")

import torch
from tests.support import tiny_models

from affectlab.engine.stack import Stack
from affectlab.errors import UserError, WorldError
from affectlab.models import Answer, Failure, Message, ModelCard, ModelSettings, Request, Response, Sampling, open_model
from affectlab.models.loading import Loaded
from affectlab.models.local import LocalModel

FAMILIES = ("llama", "gpt2", "gemma3_text", "mamba")
OPTIONS = (" joy", " fear", " anger", " A", " B", "sadness and fear")


def _local(family: str = "llama", batch_tokens: int = 8192, tokenizer: Any = None, model: Any = None) -> LocalModel:
    loaded = Loaded(
        model if model is not None else tiny_models.model(family),
        tokenizer if tokenizer is not None else tiny_models.tokenizer(),
        ModelCard("tiny", "tiny"),
    )
    return LocalModel(loaded, ModelSettings(batch_tokens=batch_tokens))


SHORT = Sampling(max_tokens=10)


def _requests(sampling: Sampling = SHORT, **fields: Any) -> list[Request]:
    """Seven requests of different lengths."""
    return [
        Request(f"s{n}", "A", (Message("user", "How does Ada feel? " * n + f"A {n}"),), sampling=sampling, **fields)
        for n in range(1, 8)
    ]


def _answers(model: LocalModel, requests: Sequence[Request]) -> dict[str, Response]:
    found: dict[str, Response] = {}
    for request, answer in model.respond(requests):
        assert isinstance(answer, Response)
        assert request.item not in found
        found[request.item] = answer
    assert found.keys() == {request.item for request in requests}
    return found


@pytest.mark.parametrize("family", FAMILIES)
def test_greedy_text_is_that_of_transformers_generate(family: str) -> None:
    model, tokenizer = tiny_models.model(family), tiny_models.tokenizer()
    answers = _answers(_local(model=model, tokenizer=tokenizer), _requests())
    for request in _requests():
        prompt = answers[request.item].prompt
        assert prompt is not None
        ids = tokenizer(prompt, add_special_tokens=False, return_tensors="pt")
        ids.pop("token_type_ids", None)
        told = model.generate(**ids, max_new_tokens=10, do_sample=False)[0, ids["input_ids"].shape[1] :]
        assert answers[request.item].text == tokenizer.decode(told, skip_special_tokens=True)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("sampling", [Sampling(max_tokens=12), Sampling(0.8, 0.9, 12, seed=5)], ids=["greedy", "drawn"])
def test_text_does_not_depend_on_the_batch(family: str, sampling: Sampling) -> None:
    model = tiny_models.model(family)
    together = _answers(_local(model=model), _requests(sampling))
    alone = _answers(_local(model=model, batch_tokens=1), _requests(sampling))
    for item, answer in together.items():
        assert (answer.text, answer.finish, answer.usage) == (alone[item].text, alone[item].finish, alone[item].usage)


@pytest.mark.parametrize("family", FAMILIES)
def test_scores_are_those_of_a_plain_pass_and_do_not_depend_on_the_batch(family: str) -> None:
    model, tokenizer = tiny_models.model(family), tiny_models.tokenizer()
    requests = _requests(prefill="Answer:", options=OPTIONS)
    answers = _answers(_local(model=model, tokenizer=tokenizer), requests)
    alone = _answers(_local(model=model, tokenizer=tokenizer, batch_tokens=1), requests)
    for item, answer in answers.items():
        assert answer.prompt is not None
        assert answer.prompt.endswith("<s>assistant\nAnswer:")
        assert answer.finish == "scored"
        assert answer.logprobs is not None
        assert answer.option_tokens == tuple(len(tokenizer(o, add_special_tokens=False)["input_ids"]) for o in OPTIONS)
        assert answer.logprobs == pytest.approx(alone[item].logprobs, abs=1e-4)
        assert answer.logprobs == pytest.approx(_plain_scores(model, tokenizer, answer.prompt), abs=1e-4)


def _plain_scores(model: Any, tokenizer: Any, prompt: str) -> list[float]:
    """The reference: one unpadded pass per option, log-softmax, sum over the option's tokens."""
    start = tokenizer(prompt, add_special_tokens=False)["input_ids"]
    found = []
    for option in OPTIONS:
        ids = tokenizer(option, add_special_tokens=False)["input_ids"]
        with torch.no_grad():
            logprobs = model(torch.tensor([start + ids])).logits[0].log_softmax(-1)
        found.append(sum(float(logprobs[len(start) + n - 1, token]) for n, token in enumerate(ids)))
    return found


def test_probabilities_of_all_single_tokens_sum_to_one() -> None:
    tokenizer = tiny_models.tokenizer()
    options = tuple(tokenizer.decode([token]) for token in range(3, 90))
    ids = {tokenizer(option, add_special_tokens=False)["input_ids"][0] for option in options}
    request = Request("s", "A", (Message("user", "hello"),), options=options)
    logprobs = _answers(_local(tokenizer=tokenizer), [request])["s"].logprobs
    assert logprobs is not None
    assert 0 < sum(map(math.exp, logprobs)) <= 1 + 1e-5
    assert len(ids) == len(options)


def test_a_drawn_text_depends_on_its_seed_item_and_repeat_only() -> None:
    model = _local()
    base = Request("s", "A", (Message("user", "How?"),), sampling=Sampling(1.5, 1.0, 12, seed=1))
    variants = [base, replace(base, repeat=1), replace(base, item="t"), replace(base, sampling=Sampling(1.5, 1, 12, 2))]
    texts = [answer.text for one in variants for _, answer in model.respond([one]) if isinstance(answer, Response)]
    assert len(set(texts)) == 4
    assert [_answers(model, [base])["s"].text] == texts[:1]


def test_token_limit_stop_strings_and_end_token_say_how_it_ended() -> None:
    model = _local()
    request = Request("s", "A", (Message("user", "How does Ada feel?"),), sampling=Sampling(max_tokens=8))
    whole = _answers(model, [request])["s"]
    assert whole.text
    assert whole.usage is not None
    assert whole.usage.completion_tokens == 8
    assert whole.finish == "length"
    stop = whole.text[3:5]
    cut = _answers(model, [replace(request, sampling=Sampling(max_tokens=8, stop=("never", stop)))])["s"]
    assert cut.text == whole.text[: whole.text.index(stop)]
    assert cut.finish == "stop"


def test_an_end_token_ends_the_text() -> None:
    made, tokenizer = tiny_models.model("llama"), tiny_models.tokenizer()
    first = _answers(_local(model=made, tokenizer=tokenizer), _requests(Sampling(max_tokens=1)))["s1"]
    made.generation_config.eos_token_id = [2, *tokenizer(first.text, add_special_tokens=False)["input_ids"]]
    ended = _answers(_local(model=made, tokenizer=tokenizer), _requests())["s1"]
    assert (ended.text, ended.finish) == ("", "stop")


def test_a_prompt_without_room_is_a_failure_and_a_short_room_is_a_limit() -> None:
    model = _local("gpt2")  # takes 256 tokens
    long = Request("long", "A", (Message("user", "x" * 300),))
    close = Request("close", "A", (Message("user", "x" * 225),), sampling=Sampling(max_tokens=100))
    scored = replace(long, item="scored", options=(" A",))
    named = Request("named", "A", (Message("user", "How?"),), options=(" A", " A" * 300))
    ((_, said),) = model.respond([named])
    assert isinstance(said, Failure)
    assert re.fullmatch(
        r"The prompt has \d\d tokens, and the longest option 300 more; the model takes 256\.", said.error
    )
    answers: dict[str, Answer] = {request.item: answer for request, answer in model.respond([long, close, scored])}
    for item in ("long", "scored"):
        failure = answers[item]
        assert isinstance(failure, Failure)
        assert failure.error.endswith("the model takes 256.")
    fits = answers["close"]
    assert isinstance(fits, Response)
    assert fits.usage is not None
    assert fits.usage.prompt_tokens + fits.usage.completion_tokens == 256 or fits.finish == "stop"


def test_answers_come_batch_by_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    model, calls = _local(batch_tokens=100), 0
    run = Stack.run

    def counted(self: Stack, step: Any) -> Any:
        nonlocal calls
        calls += 1
        return run(self, step)

    monkeypatch.setattr(Stack, "run", counted)
    answers = model.respond(_requests())
    next(answers)
    first = calls
    assert len(list(answers)) == 6
    assert calls > 3 * first


def test_a_batch_that_does_not_fit_is_made_smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = _answers(_local(), _requests())
    model, run, failed = _local(), Stack.run, 0

    def small(self: Stack, step: Any) -> Any:
        nonlocal failed
        if len(step.ids) > 2:
            failed += 1
            raise torch.OutOfMemoryError("no room")
        return run(self, step)

    monkeypatch.setattr(Stack, "run", small)
    found = _answers(model, _requests())
    assert failed
    assert {item: answer.text for item, answer in found.items()} == {i: a.text for i, a in wanted.items()}


def test_one_row_that_does_not_fit_is_said_and_other_errors_are_not_swallowed(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(text: str) -> Any:
        def run(self: Stack, step: Any) -> Any:
            raise RuntimeError(text)

        return run

    model = _local()
    monkeypatch.setattr(Stack, "run", failing("DefaultCPUAllocator: can't allocate memory: 9 bytes"))
    with pytest.raises(WorldError, match="Memory ran out on a single row"):
        list(model.respond(_requests()))
    monkeypatch.setattr(Stack, "run", failing("shapes do not match"))
    with pytest.raises(RuntimeError, match="shapes do not match"):
        list(model.respond(_requests()))


def test_logits_that_are_not_finite_name_the_requests() -> None:
    made, tokenizer = tiny_models.model("llama"), tiny_models.tokenizer()
    (bad,) = tokenizer(" 2", add_special_tokens=False)["input_ids"]
    model = _local(model=made, tokenizer=tokenizer)
    with torch.no_grad():
        made.model.embed_tokens.weight[bad] = float("nan")
    # only s2's prompt holds the digit 2
    for requests in (_requests(), _requests(options=OPTIONS)):
        with pytest.raises(WorldError, match=r"not finite for item 's2' \(step 'A'\)\. Its weights are damaged"):
            list(model.respond(requests))


def test_bad_requests_and_closed_models_are_refused() -> None:
    model = _local()
    with pytest.raises(UserError, match="max_tokens is 0"):
        list(model.respond(_requests(Sampling(max_tokens=0))))
    with pytest.raises(UserError, match="option '' has no tokens"):
        list(model.respond(_requests(options=("", "A"))))
    model.close()
    model.close()
    with pytest.raises(UserError, match="closed"):
        list(model.respond(_requests()))


@pytest.mark.parametrize("spec", ["./{}", "{}", "hf:{}"])
def test_a_folder_is_opened_by_its_path(spec: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny_models.save(tmp_path / "tiny")
    monkeypatch.chdir(tmp_path)
    model = open_model(spec.format("tiny"), ModelSettings(threads=1))
    assert isinstance(model, LocalModel)
    assert model.card.name == "tiny"
    assert model.card.identity["dtype"] == "float32"
    assert model.card.identity["device"] in ("cpu", "cuda")
    assert len(model.card.identity["sha256"]) == 64
    assert model.card.libraries.keys() == {"torch", "transformers", "tokenizers", "affectlab.engine", "threads"}
    assert model.card.libraries["threads"] == "1"
    ways, _, rest = model.card.libraries["affectlab.engine"].partition("; largest difference from plain passes ")
    assert ways == "sharing, packing, fork"
    assert 0 < float(rest) < 1e-3
    assert _answers(model, _requests(Sampling(max_tokens=3)))


def test_a_model_may_be_spread_over_the_devices_there_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This machine has one device, so accelerate's choice is made here: a layer on disk, the rest on the processor."""
    pytest.importorskip("accelerate", reason="device maps need accelerate")
    from transformers import AutoModelForCausalLM

    folder = tiny_models.save(tmp_path / "tiny")
    whole = open_model(str(folder), ModelSettings(device="cpu", threads=1))
    opened = AutoModelForCausalLM.from_pretrained

    def choose(*given: Any, device_map: Any, **how: Any) -> Any:
        assert device_map == "auto"
        parts = {"model.embed_tokens": "cpu", "model.norm": "cpu", "model.rotary_emb": "cpu", "lm_head": "cpu"}
        layers = tiny_models.model("llama").config.num_hidden_layers
        parts |= {f"model.layers.{n}": "disk" if n == 1 else "cpu" for n in range(layers)}
        return opened(*given, device_map=parts, offload_folder=str(tmp_path / "off"), **how)

    monkeypatch.setattr(AutoModelForCausalLM, "from_pretrained", choose)
    spread = open_model(str(folder), ModelSettings(device="map", threads=1))
    assert isinstance(whole, LocalModel)
    assert isinstance(spread, LocalModel)
    assert spread.card.identity["device"] == "map: cpu, disk"
    requests = _requests(options=OPTIONS)
    one, other = _answers(whole, requests), _answers(spread, requests)
    for item, response in one.items():
        assert other[item].logprobs == pytest.approx(response.logprobs, abs=1e-4)


def test_folders_that_cannot_be_opened_say_why(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"There is no folder /nowhere/model"):
        open_model("/nowhere/model")
    with pytest.raises(UserError, match=r"holds no config\.json"):
        open_model(str(tmp_path))
    folder = tiny_models.save(tmp_path / "pickled")
    (folder / "model.safetensors").unlink()
    torch.save({}, folder / "pytorch_model.bin")
    with pytest.raises(UserError, match="safetensors weights"):
        open_model(str(folder))
    cut = tiny_models.save(tmp_path / "cut")
    weights = cut / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1000])
    with pytest.raises(UserError, match="cannot be loaded"):
        open_model(str(cut))
    with pytest.raises(UserError, match=r"Device 'cuda:99' cannot be used|Device 'nonsense'"):
        open_model(str(tiny_models.save(tmp_path / "fine")), ModelSettings(device="nonsense"))


def test_missing_weights_are_not_made_up(tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    folder = tiny_models.save(tmp_path / "holes")
    weights = load_file(folder / "model.safetensors")
    weights.pop("model.layers.1.mlp.up_proj.weight")
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(UserError, match=r"lacks 1 of its weights, model.layers.1.mlp.up_proj.weight"):
        open_model(str(folder))


def test_hub_errors_are_the_worlds_or_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub
    from huggingface_hub.errors import LocalEntryNotFoundError

    def offline(*_: Any, **__: Any) -> str:
        raise LocalEntryNotFoundError("no network")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", offline)
    with pytest.raises(WorldError, match=r"org/name is not on this machine and the hub cannot be reached"):
        open_model("hf:org/name")
    monkeypatch.undo()
    with pytest.raises(UserError, match=r"There is no folder name. A model of the hub is named hf:ORG/NAME"):
        open_model("hf:name")
    with pytest.raises(UserError, match="cannot be the name of a hub model"):
        open_model("hf:or g/na me")
