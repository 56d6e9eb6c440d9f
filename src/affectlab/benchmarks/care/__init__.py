"""CAREBench (arXiv 2605.17176): a true story, how its writer appraised it, and what they felt. Can a model follow the
chain?

Read in this order: ``spaces`` (what is answered), ``record`` and ``data`` (what is loaded), ``prompts``,
``questions`` and ``nodes`` (RQ1, RQ2), ``counterfactual`` and ``subjectivity`` (RQ3, RQ4), ``protocols`` (all), then
``measures``, ``shifts``, ``spread``, ``ceiling``, ``people`` and ``scores`` (what is computed), ``references`` (what
the paper reports).
"""

from __future__ import annotations

from importlib.resources import files

from affectlab.benchmarks.base import Benchmark
from affectlab.benchmarks.care.data import encoder_digest, load
from affectlab.benchmarks.care.measures import headline_names
from affectlab.benchmarks.care.measures import measures as _measures
from affectlab.benchmarks.care.nodes import NODES
from affectlab.benchmarks.care.protocols import PROTOCOLS
from affectlab.benchmarks.care.references import REFERENCES
from affectlab.benchmarks.care.scores import VERSION, score
from affectlab.benchmarks.care.settings import SETTINGS
from affectlab.benchmarks.care.spaces import SLOTS
from affectlab.benchmarks.care.spread import DISTANCES
from affectlab.benchmarks.care.subjectivity import SAMPLED, TEMPERATURE


def _perfect() -> dict[str, float]:
    """Errors and distances are 0 when every answer is right."""
    shown = [name for protocol in NODES for name in headline_names(protocol.name)]
    return dict.fromkeys((*DISTANCES, *(name for name in shown if "rmse" in name)), 0.0)


BENCHMARK = Benchmark(
    name="care",
    title="CAREBench: from the situation over appraisals to feelings",
    version=VERSION,
    paper="CAREBench (2026), Evaluating LLMs' Emotion Understanding by Assessing Cognitive Appraisal Reasoning, "
    "arXiv 2605.17176",
    question="What did the writer of a story think of it, and what did they feel?",
    slots=dict(SLOTS),
    protocols=dict(PROTOCOLS),
    load=load,
    sample=files(__name__) / "sample.jsonl",
    score=score,
    measures=_measures,
    references=REFERENCES,
    settings=SETTINGS,
    perfect=_perfect(),
    outside={"bertscore": encoder_digest},
    temperatures={protocol.name: TEMPERATURE for protocol in SAMPLED},
)
