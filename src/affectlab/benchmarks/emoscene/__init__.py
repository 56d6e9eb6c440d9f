"""EmoScene (arXiv 2604.00819): which of Plutchik's eight emotions does a scenario hold, all at once?

Read in this order: ``record`` (the data), ``prompts``, ``protocols`` and ``beside`` (how it is asked and read),
``answers``, ``measures`` and ``scores`` (what is computed), ``certainty`` (calibration), ``ising``, ``calibrate``,
``crossfit`` and ``joint`` (joint inference), ``references`` (what the paper reports).
"""

from __future__ import annotations

from importlib.resources import files

from affectlab.benchmarks.base import Benchmark
from affectlab.benchmarks.emoscene.measures import measures as _measures
from affectlab.benchmarks.emoscene.protocols import PROTOCOLS
from affectlab.benchmarks.emoscene.record import EMOTIONS, PRESENCE, load
from affectlab.benchmarks.emoscene.references import REFERENCES
from affectlab.benchmarks.emoscene.scores import VERSION, score
from affectlab.benchmarks.emoscene.settings import SETTINGS
from affectlab.items import source_digest

BENCHMARK = Benchmark(
    name="emoscene",
    title="EmoScene: emotions that come together",
    version=VERSION,
    paper="Kotaprolu et al. (2026), Emotion Entanglement and Bayesian Inference, arXiv 2604.00819",
    question="Which of eight emotions, any number of them, does a scenario hold?",
    slots=dict.fromkeys(EMOTIONS.ids, PRESENCE),
    protocols=PROTOCOLS,
    load=load,
    sample=files(__name__) / "sample.jsonl",
    score=score,
    measures=_measures,
    references=REFERENCES,
    settings=SETTINGS,
    outside={"prior": source_digest},
    perfect={"hamming_loss": 0.0},
)
