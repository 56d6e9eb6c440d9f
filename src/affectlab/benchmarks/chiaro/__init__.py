"""Chiaro (arXiv 2609.03394): one event, two people, opposite feelings. Who feels what?

Read in this order: ``record`` (the data), ``prompts`` and ``protocols`` (how it is asked and read), ``measures`` and
``scores`` (what is computed), ``references`` (what the paper prints). ``validate`` holds the rules a scene must obey.
"""

from __future__ import annotations

from importlib.resources import files

from affectlab.benchmarks.base import Benchmark
from affectlab.benchmarks.chiaro.measures import measures as _measures
from affectlab.benchmarks.chiaro.protocols import EMOTIONS, PROTOCOLS, SLOTS
from affectlab.benchmarks.chiaro.record import load
from affectlab.benchmarks.chiaro.references import REFERENCES
from affectlab.benchmarks.chiaro.scores import VERSION, score

BENCHMARK = Benchmark(
    name="chiaro",
    title="Chiaro: contrastive emotion inference",
    version=VERSION,
    paper="Saim and Jiang (2026), Chiaroscuro for Emotions, arXiv 2609.03394",
    question="One event, two people, opposite feelings: who feels what?",
    slots=dict.fromkeys(SLOTS, EMOTIONS),
    protocols=PROTOCOLS,
    load=load,
    sample=files(__name__) / "sample.jsonl",
    score=score,
    measures=_measures,
    references=REFERENCES,
    perfect={"swap_rate": 0.0},
)
