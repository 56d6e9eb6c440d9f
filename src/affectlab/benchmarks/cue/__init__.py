"""CUE-Bench (arXiv 2608.10810): what is said, what is meant, why it is said so, and what is felt.

Read in this order: ``record`` (the data), ``prompts`` with ``definitions``, ``demonstrations`` and ``protocols``
(how it is asked and read), ``measures`` and ``scores`` (what is computed), ``references`` (what the paper prints).
"""

from __future__ import annotations

from importlib.resources import files

from affectlab.benchmarks.base import Benchmark
from affectlab.benchmarks.cue.measures import SPACE_OF
from affectlab.benchmarks.cue.measures import measures as _measures
from affectlab.benchmarks.cue.protocols import PROTOCOLS
from affectlab.benchmarks.cue.record import load
from affectlab.benchmarks.cue.references import REFERENCES
from affectlab.benchmarks.cue.scores import VERSION, score
from affectlab.benchmarks.cue.settings import SETTINGS
from affectlab.items import source_digest

BENCHMARK = Benchmark(
    name="cue",
    title="CUE-Bench: affective stance, intent and emotion in Chinese discourse",
    version=VERSION,
    paper="Zheng et al. (2026), Surfacing the Unsaid: CUE-Bench for Affective Stance in Chinese Discourse, "
    "arXiv 2608.10810",
    question="What does a Chinese utterance say, what does it mean, why is it put so, and what is felt?",
    slots=SPACE_OF,
    protocols=PROTOCOLS,
    load=load,
    sample=files(__name__) / "sample.jsonl",
    score=score,
    measures=_measures,
    references=REFERENCES,
    settings=SETTINGS,
    outside={"demos": source_digest},
    perfect={"contradiction_rate": 0.0},
)
