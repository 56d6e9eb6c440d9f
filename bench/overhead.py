"""What a run costs besides the model: CPU per request, beside Inspect AI and lm-evaluation-harness.

    python bench/overhead.py [--requests 2000] [--repeats 3] [--inspect-python PYTHON] [--lm-eval-python PYTHON]

Every tool puts the same made-up Chiaro scenes, in the same words, to a model that answers at once, reads and scores the
replies, and writes everything it writes by default. Each run is a process of its own, at two sizes; the difference of
their CPU times (user and system, threads and children included) over the difference of their requests is the cost of a
request, free of start-up. Nothing is fetched, and everything is written to a temporary folder. Target for affectlab: at
most 0.5 ms a request.

CPU time depends far less than wall time on what else the machine does, but it is not free of it: processes that share
caches and cores cost each other a third and more. Run it on an idle machine.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

TARGET_MS = 0.5
POSITIVE = ("joy", "pride", "relief", "gratitude", "excitement")
NEGATIVE = ("anger", "fear", "sadness", "disgust", "embarrassment")
TYPES = (
    "zero_sum",
    "side_effect_spillover",
    "asymmetric_information",
    "unintended_consequence",
    "competing_preferences",
    "success_vs_failure",
)
NAMES = ("Ada", "Bo", "Carmen", "Dmitri", "Esi", "Farid", "Greta", "Hiro", "Ines", "Jamal", "Kaya", "Lior", "Mei")
TRADES = ("baker", "cellist", "clerk", "cook", "dancer", "diver", "guard", "nurse", "painter", "pilot", "welder")
SHAPES = (
    *["AGENT A: {a}\nAGENT B: {b}"] * 14,
    "**AGENT A:** {a}\n**AGENT B:** {b}",
    "AGENT A: ({a})\nAGENT B: ({b})",
    "<think>One of them gains what the other loses.</think>\nAGENT A: {a}\nAGENT B: {b}",
    "One is better off and the other is not, so:\n\nAGENT A: {a}.\nAGENT B: {b}.",
    '{{"agent_a": "{a}", "agent_b": "{b}"}}',
    "I'm sorry, but I can't judge what these people feel.",
)
"""Replies of the made-up model: 70 % as asked, the rest in other forms; one in twenty is a refusal."""


def scene(number: int, draw: random.Random) -> dict[str, str]:
    """A scene about as long as the bundled ones; no two share a role, so that nothing can be cached by role."""
    (name_a, name_b), (trade_a, trade_b) = draw.sample(NAMES, 2), draw.sample(TRADES, 2)
    emotions = [draw.choice(POSITIVE), draw.choice(NEGATIVE)]
    draw.shuffle(emotions)
    return {
        "id": f"made-up-{number:06d}",
        "sentence": f"Permit {number}, the last of the year, goes to {name_a}, who has waited since dawn "
        f"and walks home humming with the paper held up for all to see. {name_b}, next in the line, reads the notice "
        "on the counter twice, folds it small, and tells nobody that the shop will have to close by Friday.",
        "setting": f"A town office hands out permits in room {number}.",
        "agent_a_role": f"{name_a}, the {trade_a} from stall {number}",
        "agent_b_role": f"{name_b}, the {trade_b} from stall {number}",
        "agent_a_emotion": emotions[0],
        "agent_b_emotion": emotions[1],
        "mode": ("physical", "non_physical")[number % 2],
        "scenario_type": TYPES[number % 6],
    }


def write_lines(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def read_lines(path: Path, most: int | None = None) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in islice(file, most)]


def write_inputs(folder: Path, scenes: int) -> None:
    """Data, and a script for either way of asking: ``scenes.jsonl``, ``joint.jsonl``, ``likelihood.jsonl``."""
    draw = random.Random(0)
    rows, replies, scores = [], [], []
    for number in range(scenes):
        row = scene(number, draw)
        rows.append(row)
        reply = draw.choice(SHAPES).format(a=draw.choice("ABCDE"), b=draw.choice("ABCDE"))
        replies.append({"item": row["id"], "reply": reply})
        for step in "AB":
            logprobs = [round(-5 * draw.random(), 4) for _ in range(5)]
            scores.append({"item": row["id"], "step": step, "logprobs": logprobs})
    folder.mkdir()
    for name, lines in (("scenes", rows), ("joint", replies), ("likelihood", scores)):
        write_lines(folder / f"{name}.jsonl", lines)


# --- the other tools: each of these runs in a process and an environment of its own ---------------------------------


def run_inspect(documents: list[dict[str, Any]], out: Path) -> None:
    """A task of ``generate()`` and ``includes()``; usage is given, or the mock model would fetch a tokenizer's file."""
    from inspect_ai import Task, eval
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ChatMessageSystem, ChatMessageUser, ModelOutput, ModelUsage, get_model
    from inspect_ai.scorer import includes
    from inspect_ai.solver import generate

    replies = {row["user"]: row["reply"] for row in documents}

    def answer(messages: list[Any], *_: Any) -> Any:
        output = ModelOutput.from_content("mockllm/model", replies[messages[-1].text])
        output.usage = ModelUsage(input_tokens=300, output_tokens=12, total_tokens=312)
        return output

    samples = [
        Sample(
            input=[ChatMessageSystem(content=row["system"]), ChatMessageUser(content=row["user"])],
            target=row["target"],
            id=row["id"],
        )
        for row in documents
    ]
    task = Task(dataset=MemoryDataset(samples), solver=generate(), scorer=includes(), name="overhead")
    model = get_model("mockllm/model", custom_outputs=answer)
    (log,) = eval(task, model=model, log_dir=str(out), display="none")
    if log.status != "success" or log.results is None or log.results.completed_samples != len(documents):
        raise SystemExit(f"Inspect AI ended with status {log.status}: {log.error}")


def run_lm_eval(documents: list[dict[str, Any]], out: Path, output_type: str, prompt: str = "prompt") -> None:
    """A task from local JSON lines, with results and samples saved as its command line does under --log_samples.

    With a column of the data as the prompt, the cheapest way it has, or with a template, the usual one: a template is
    compiled anew for every document.
    """
    from lm_eval import simple_evaluate
    from lm_eval.api.model import LM
    from lm_eval.loggers import EvaluationTracker
    from lm_eval.tasks import TaskManager

    class Scripted(LM):
        def generate_until(self, requests: list[Any], disable_tqdm: bool = False) -> list[str]:
            return [request.doc["reply"] for request in requests]

        def loglikelihood(self, requests: list[Any], disable_tqdm: bool = False) -> list[tuple[float, bool]]:
            return [(request.doc["logprobs"][request.idx], False) for request in requests]

        def loglikelihood_rolling(self, requests: list[Any], disable_tqdm: bool = False) -> list[float]:
            raise NotImplementedError

    data = out / "documents.jsonl"
    unused = ("system", "user") if prompt == "prompt" else ("prompt",)
    write_lines(data, [{name: value for name, value in row.items() if name not in unused} for row in documents])
    task: dict[str, Any] = {
        "task": "overhead",
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": str(data)}},
        "test_split": "test",
        "output_type": output_type,
        "doc_to_text": prompt,
    }
    if output_type == "generate_until":
        task |= {
            "doc_to_target": "target",
            "generation_kwargs": {"until": ["\n\n\n"], "max_gen_toks": 32, "do_sample": False},
            "metric_list": [{"metric": "exact_match"}],
        }
    else:
        task |= {"doc_to_choice": list("ABCDE"), "doc_to_target": "gold", "metric_list": [{"metric": "acc"}]}
    tracker = EvaluationTracker(output_path=str(out))
    results = simple_evaluate(
        model=Scripted(),
        tasks=[task],
        task_manager=TaskManager(include_defaults=False),
        evaluation_tracker=tracker,
        log_samples=True,
    )
    samples = results.pop("samples")
    if len(samples["overhead"]) != len(documents):
        raise SystemExit(f"lm-evaluation-harness kept {len(samples['overhead'])} of {len(documents)} documents")
    tracker.save_results_aggregated(results=results, samples=samples)
    tracker.save_results_samples(task_name="overhead", samples=samples["overhead"])


PEERS: dict[str, Callable[[list[dict[str, Any]], Path], None]] = {
    "inspect": run_inspect,
    "lm-eval-generate": partial(run_lm_eval, output_type="generate_until"),
    "lm-eval-template": partial(run_lm_eval, output_type="generate_until", prompt="{{system}}\n\n{{user}}\n"),
    "lm-eval-score": partial(run_lm_eval, output_type="multiple_choice"),
}


def documents_of(run: Path) -> list[dict[str, Any]]:
    """What our run asked and was answered, as flat documents for the other tools."""
    made = []
    for row in read_lines(run / "responses.jsonl"):
        system, user = (message["content"] for message in row["request"]["messages"])
        made.append(
            {
                "id": f"{row['item']}-{row['step']}",
                "system": system,
                "user": user,
                "prompt": f"{system}\n\n{user}\n",
                "reply": row["response"]["text"] or "",
                "logprobs": row["response"].get("logprobs", []),
                "target": "AGENT A: A\nAGENT B: A",
                "gold": 0,
            }
        )
    return made


# --- measuring ----------------------------------------------------------------------------------------------------


class Contender(NamedTuple):
    """A tool under one way of asking; its command takes a number of requests and an empty folder to write to."""

    name: str
    command: Callable[[int, Path], Sequence[str]]


def cpu_seconds(command: Sequence[str], folder: Path) -> float:
    """User and system time of a command and its children; its output goes to a log that is shown if it fails."""
    caches = {"HOME": "home", "XDG_DATA_HOME": "data", "XDG_CACHE_HOME": "cache", "HF_HOME": "hub"}
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}
    environment |= {name: str(folder / "caches" / leaf) for name, leaf in caches.items()}
    log = folder / "log.txt"
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environment)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        shown = log.read_text(encoding="utf-8", errors="replace")[-2000:]
        raise SystemExit(f"{' '.join(command)} ended with exit code {process.returncode}:\n{shown}")
    return usage.ru_utime + usage.ru_stime


def measure(contender: Contender, sizes: tuple[int, int], repeats: int, folder: Path) -> str:
    """One row of the table: median, least and greatest cost of a request over the repeats, and median totals."""

    def run(requests: int) -> float:
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "caches" / "home").mkdir(parents=True)
        (folder / "out").mkdir()
        return cpu_seconds(contender.command(requests, folder / "out"), folder)

    small, large = sizes
    run(small)  # not counted: compiles byte code and fills the page cache
    totals = [(run(small), run(large)) for _ in range(repeats)]
    costs = [1000 * (many - few) / (large - small) for few, many in totals]
    few, many = (statistics.median(column) for column in zip(*totals, strict=True))
    cost = "".join(f"{figure:9.3f}" for figure in (statistics.median(costs), min(costs), max(costs)))
    return f"{contender.name:50}{cost}{few:11.2f}{many:9.2f}"


def affectlab_command(inputs: Path, protocol: str, per_scene: int) -> Callable[[int, Path], Sequence[str]]:
    script = Path(sys.executable).with_name("affectlab")
    if not script.exists():
        raise SystemExit(f"There is no {script}: install affectlab into this environment (pip install -e .).")

    def command(requests: int, out: Path) -> Sequence[str]:
        data = inputs / str(requests // per_scene)
        model = f"scripted:{data / protocol}.jsonl"
        options = {"--data": data / "scenes.jsonl", "--model": model, "--protocol": protocol, "--out": out / "run"}
        return [str(script), "run", "chiaro", *(str(word) for option in options.items() for word in option)]

    return command


def peer_command(python: str, peer: str, documents: Path) -> Callable[[int, Path], Sequence[str]]:
    fixed = [python, str(Path(__file__).resolve()), "--peer", peer, "--documents", str(documents)]
    return lambda requests, out: [*fixed, "--requests", str(requests), "--out", str(out)]


def installed(module: str, distribution: str, python: str) -> str | None:
    """Version of a package that the interpreter can import; else one line says that it is skipped."""
    code = f"import {module}; from importlib.metadata import version; print(version({distribution!r}))"
    try:
        found = subprocess.run([python, "-c", code], capture_output=True, text=True, encoding="utf-8", check=False)
    except OSError as error:
        print(f"{distribution}: skipped, {python} cannot be started ({error.strerror})")
        return None
    if found.returncode:
        reason = (found.stderr.strip().splitlines() or ["no message"])[-1]
        print(f"{distribution}: skipped, {python} cannot import it ({reason})")
        return None
    return found.stdout.strip().splitlines()[-1]


def contenders(folder: Path, requests: int, inspect_python: str, lm_eval_python: str) -> list[Contender]:
    """Every tool that is there; the others get documents made from a run of ours at the larger size."""
    inspect = installed("inspect_ai", "inspect-ai", inspect_python)
    lm_eval = installed("lm_eval", "lm-eval", lm_eval_python)
    ours, documents = {}, {}
    for protocol, per_scene in (("joint", 1), ("likelihood", 2)):
        ours[protocol] = affectlab_command(folder, protocol, per_scene)
        work, documents[protocol] = folder / protocol, folder / f"{protocol}-documents.jsonl"
        work.mkdir()
        cpu_seconds(ours[protocol](requests, work), work)
        write_lines(documents[protocol], documents_of(work / "run"))
    found = [
        Contender("affectlab, one generation (joint)", ours["joint"]),
        Contender("affectlab, five options scored (likelihood)", ours["likelihood"]),
    ]
    if inspect:
        command = peer_command(inspect_python, "inspect", documents["joint"])
        found.append(Contender(f"Inspect AI {inspect}, one generation", command))
    if lm_eval:
        for way, protocol, what in (
            ("generate", "joint", "one generation, ready prompt"),
            ("template", "joint", "one generation, template"),
            ("score", "likelihood", "five options scored, ready prompt"),
        ):
            command = peer_command(lm_eval_python, f"lm-eval-{way}", documents[protocol])
            found.append(Contender(f"lm-eval {lm_eval}, {what}", command))
    return found


def compare(sizes: tuple[int, int], repeats: int, inspect_python: str, lm_eval_python: str) -> None:
    small, large = sizes
    machine = f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores"
    print("command:", *sys.argv)
    print(f"affectlab {version('affectlab')}, {machine}, load average {os.getloadavg()[0]:.1f}")
    print(f"{small} and {large} requests, {repeats} repeats; every tool with its default settings")
    with tempfile.TemporaryDirectory(prefix="overhead-") as name:
        folder = Path(name)
        for scenes in sorted({*sizes, small // 2, large // 2}):
            write_inputs(folder / str(scenes), scenes)
        found = contenders(folder, large, inspect_python, lm_eval_python)
        print(f"{'':50}{'ms CPU a request':^27}{'s CPU in all':^22}")
        print(f"{'':50}{'median':>9}{'least':>9}{'most':>9}{f'n={small}':>11}{f'n={large}':>9}")
        for contender in found:
            print(measure(contender, sizes, repeats, folder / "work"), flush=True)
    print(f"target for affectlab: at most {TARGET_MS} ms; load average at the end {os.getloadavg()[0]:.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=2000, help="of the larger size; the smaller is a quarter")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--inspect-python", default=sys.executable, help="an interpreter that has inspect-ai")
    parser.add_argument("--lm-eval-python", default=sys.executable, help="an interpreter that has lm-eval")
    parser.add_argument("--peer", choices=PEERS, help=argparse.SUPPRESS)
    parser.add_argument("--documents", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.peer:
        PEERS[chosen.peer](read_lines(chosen.documents, chosen.requests), chosen.out)
        return
    if chosen.requests < 80 or chosen.repeats < 1:
        parser.error("--requests must be at least 80 and --repeats at least 1")
    large = chosen.requests - chosen.requests % 8  # both sizes are whole scenes under every protocol
    compare((large // 4, large), chosen.repeats, chosen.inspect_python, chosen.lm_eval_python)


if __name__ == "__main__":
    main()
