"""Emotion-sensitive decisions (arXiv 2604.06562): do choices in games move when an emotion is induced?

Read in this order: ``record``, ``data`` and ``authors`` (what a decision is and where it is read from), ``prompts`` and
``protocols`` (how it is asked and read), ``measures`` and ``scores`` (what is computed), ``references`` (what the paper
prints). ``validate`` holds the rules a decision must obey. The games themselves are in :mod:`affectlab.games`.
"""

from __future__ import annotations

from importlib.resources import files

from affectlab.benchmarks.base import Benchmark
from affectlab.benchmarks.decisions.data import SETTINGS, load
from affectlab.benchmarks.decisions.protocols import PROTOCOLS
from affectlab.benchmarks.decisions.record import SLOT
from affectlab.benchmarks.decisions.references import REFERENCES
from affectlab.benchmarks.decisions.scores import VERSION, score
from affectlab.benchmarks.decisions.scores import measures as _measures
from affectlab.items import source_digest

BENCHMARK = Benchmark(
    name="decisions",
    title="Emotion-sensitive decisions in games",
    version=VERSION,
    paper="Lin et al. (2026), On Emotion-Sensitive Decision Making of Small Language Model Agents, arXiv 2604.06562",
    question="Do choices in games move when an emotion is induced, and the way people's do?",
    slots={SLOT: None},
    protocols=PROTOCOLS,
    load=load,
    sample=files(__name__) / "sample.jsonl",
    score=score,
    measures=_measures,
    references=REFERENCES,
    settings=SETTINGS,
    outside={"lexicon": source_digest},
    graded=False,
)
