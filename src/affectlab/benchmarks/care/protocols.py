"""All protocols of CAREBench, the paper's first node first. What is scored goes by what kind a protocol is.

``Given`` and ``Core`` (RQ1, RQ2): answers against the writer's. ``Counterfactual`` (RQ3): shifts against people's.
``Subjective`` (RQ4): draws against the observers' ratings.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from affectlab.benchmarks.care.counterfactual import SHIFTED, Counterfactual
from affectlab.benchmarks.care.nodes import NODES, Core, Given
from affectlab.benchmarks.care.subjectivity import SAMPLED, Subjective

PROTOCOLS: Mapping[str, Given | Core | Counterfactual | Subjective] = MappingProxyType(
    {protocol.name: protocol for protocol in (*NODES, *SHIFTED, *SAMPLED)}
)


def node(name: str) -> Given | Core:
    """The protocol of RQ1 or RQ2 of that name.

    Raises:
        ValueError: When it is one of another kind.
    """
    found = PROTOCOLS[name]
    if isinstance(found, Given | Core):
        return found
    raise ValueError(f"{name} asks for no node of the chain")
