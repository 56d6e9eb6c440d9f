"""From a condition to what the engine does, and to a text that says so."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from affectlab.engine.interventions import Edit, Gate, Intervention
from affectlab.errors import UserError
from affectlab.steering.coherence import divergence, neutral_text
from affectlab.steering.conditions import THIRDS, Condition, Term, Threshold, layer_numbers, parse, ranges, third
from affectlab.steering.contrast import Doubles, Floats
from affectlab.steering.controls import isotropic, shuffled
from affectlab.steering.quality import LEAST_COSINE
from affectlab.steering.subject import Subject
from affectlab.steering.vectors import EmotionVectors

KL_RANGE = (0.0001, 2.56)
"""Doses are looked for between these multiples of the median token norm."""

DOSE_TOLERANCE = 0.01
"""Relative error of a dose's strength at which it is near enough; its divergence is then within about 2 %."""

_NO_KL = 1e-12

_WHERE = {
    "all": "every token of the prompt and of the answer",
    "prompt": "tokens of the prompt only",
    "generated": "tokens of the answer only, once they are fed back",
}
_WHAT = {
    "add": "add {amount} × its direction to the output",
    "add_keep_norm": "add {amount} × its direction to the output and bring the output back to its length",
    "project_out": "take its direction out of the output",
    "clamp": "set the output's projection on its direction to {amount}",
}


@dataclass(frozen=True, repr=False)
class Applied:
    """A condition made ready for one model.

    Attributes:
        condition: What was asked for.
        intervention: What the engine does.
        doses: For each term with a dose in nats, its strength as a multiple of the median token norm.
        lines: What happens where, one line for each term.
    """

    condition: Condition
    intervention: Intervention
    doses: tuple[tuple[str, float], ...]
    lines: tuple[str, ...]

    def explain(self) -> str:
        """What exactly happens where, for people."""
        return "\n".join([f"{self.condition}:", *(f"  {line}" for line in self.lines)])

    def __repr__(self) -> str:
        return self.explain()


class Applier:
    """Makes conditions ready for a model. What was measured for one condition is kept for the next."""

    def __init__(
        self,
        vectors: EmotionVectors | None,
        subject: Subject | None = None,
        doses: Mapping[str, float] = MappingProxyType({}),
    ) -> None:
        """Take what conditions are made of.

        Args:
            vectors: Emotion vectors; ``None`` when only ``neutral`` and ``prompt:`` are to be had.
            subject: The model, which doses in nats are measured on; must be the vectors' own.
            doses: Those that were measured before, by term: see :attr:`Applied.doses`.

        Raises:
            UserError: When the vectors belong to another model.
        """
        if vectors is not None and subject is not None:
            vectors.check(subject.identity)
        self._vectors = vectors
        self._subject = subject
        self._shuffled: dict[int, EmotionVectors] = {}
        self._doses: dict[str, float] = dict(doses)
        self._targets: dict[Term, float] = {}

    def __repr__(self) -> str:
        return f"Applier({self._vectors or 'no vectors'}{f', on {self._subject}' if self._subject else ''})"

    def __call__(self, condition: Condition | str) -> Applied:
        """Make one condition ready.

        Raises:
            UserError: When it cannot be parsed, names an emotion or layer there is no vector for, or needs what the
                vectors do not have.
        """
        wanted = parse(condition) if isinstance(condition, str) else condition
        edits: list[Edit] = []
        lines: list[str] = []
        seen: set[tuple[str, int, int]] = set()
        for term in wanted.terms:
            made = self._edits(term)
            places = {(*term.direction, edit.layer) for edit in made}
            if twice := seen & places:
                layers = ranges(sorted(layer for _, _, layer in twice))
                raise UserError(
                    f"{wanted}: {term.name} stands in it twice at layer {layers}. Write the sum as one strength there."
                )
            seen |= places
            edits += made
            lines.append(self._line(term, made))
        if wanted.prompts:
            lines.append(f"The system turn starts with: {wanted.prompt}")
        gate = None
        if (only := wanted.only) is not None:
            gate = self._gate(only, min(edit.layer for edit in edits))
            lines.append(
                f"Only at tokens whose projection on {only.emotion}'s direction at layer {gate.layer} is {only.side} "
                f"{gate.threshold:.4g}, {only.value:g} × the median token norm."
            )
        return Applied(
            condition=wanted,
            intervention=Intervention(tuple(edits), wanted.positions, gate, name=str(wanted)),
            doses=tuple((name, self._doses[name]) for name in map(str, wanted.terms) if name in self._doses),
            lines=tuple(lines) or ("Nothing is done to the model.",),
        )

    def layers(self, spec: str) -> tuple[int, ...]:
        """Layers that a term's ``layers`` means.

        Raises:
            UserError: When there is no vector for one of them.
        """
        vectors = self._need_vectors()
        if spec == "all":
            return vectors.layers
        if spec == "best":
            if not vectors.provenance.suggested_layers:
                raise UserError(
                    "layers=best: these vectors have not been validated. Run affectlab vectors validate --write first."
                )
            return vectors.provenance.suggested_layers
        if spec in THIRDS:
            chosen = tuple(layer for layer in third(spec, vectors.model.n_layers) if layer in vectors.layers)
            if not chosen:
                raise UserError(f"There are no vectors in the {spec} third; there are for {ranges(vectors.layers)}.")
            return chosen
        numbers = tuple(sorted(layer_numbers(spec)))
        if beyond := [layer for layer in numbers if layer >= vectors.model.n_layers]:
            raise UserError(
                f"Layer {beyond[0]}: {vectors.model.name} has {vectors.model.n_layers} layers, 0 to "
                f"{vectors.model.n_layers - 1}."
            )
        for layer in numbers:
            vectors.place(layer)
        return numbers

    def _need_vectors(self) -> EmotionVectors:
        if self._vectors is None:
            raise UserError("This condition needs emotion vectors: name their file with --vectors.")
        return self._vectors

    def _edits(self, term: Term) -> list[Edit]:
        unit = self._directions(term)
        amounts = self._amounts(term)
        vectors = self._need_vectors()
        return [
            Edit(layer, unit[vectors.place(layer)], term.kind, float(amounts[vectors.place(layer)]))
            for layer in self.layers(term.layers)
        ]

    def _gate(self, only: Threshold, layer: int) -> Gate:
        """The gate of a condition whose first changed layer this is."""
        vectors = self._need_vectors()
        place = vectors.place(layer)
        return Gate(
            layer,
            vectors.unit[vectors.index(only.emotion), place],
            float(only.value * self._token_norms()[place]),
            only.side,
        )

    def _directions(self, term: Term) -> Floats:
        """Unit vectors ``[layer, width]`` of a term."""
        vectors = self._need_vectors()
        if term.source in ("random", "kl-random"):
            return isotropic(vectors, term.seed)
        if term.source == "permuted":
            if term.seed not in self._shuffled:
                self._shuffled[term.seed] = shuffled(vectors, term.seed)
            vectors = self._shuffled[term.seed]
        found: Floats = vectors.unit[vectors.index(term.emotion)]
        return found

    def _amounts(self, term: Term) -> Doubles:
        """Multipliers of the unit vectors, ``[layer]``."""
        vectors = self._need_vectors()
        if term.source == "kl-random" or term.scale == "kl":
            return self._dose(term) * self._token_norms()
        if term.scale == "unit":
            return np.full(len(vectors.layers), term.strength)
        if term.scale == "relative":
            return term.strength * self._token_norms()
        norms = vectors.norms[vectors.index(term.emotion)] if term.emotion else vectors.norms.mean(axis=0)
        raw: Doubles = term.strength * norms.astype(np.float64)
        return raw

    def _token_norms(self) -> Doubles:
        norms = self._need_vectors().token_norms
        if norms is None:
            raise UserError(
                "These vectors hold no token norms, which relative strengths, doses and thresholds count in. Use unit "
                "or raw strengths."
            )
        return norms.astype(np.float64)

    def _dose(self, term: Term) -> float:
        """Multiple of the median token norm at which a term has its divergence on plain text."""
        name = str(term)
        if name not in self._doses:
            target = self._matched(term) if term.source == "kl-random" else abs(term.strength)
            sign = -1.0 if term.strength < 0 else 1.0
            unit, norms, layers = self._directions(term), self._token_norms(), self.layers(term.layers)
            places = [self._need_vectors().place(layer) for layer in layers]
            subject = self._need_subject(term)
            neutral = neutral_text(subject)

            def measured(strength: float) -> float:
                edits = tuple(
                    Edit(layer, unit[place], term.kind, float(sign * strength * norms[place]))
                    for layer, place in zip(layers, places, strict=True)
                )
                return float(divergence(subject, [Intervention(edits)], neutral)[0])

            told = f"{name}: the emotions' vectors move plain text by" if term.source == "kl-random" else f"{name}:"
            self._doses[name] = sign * find_dose(measured, target, told)
        return self._doses[name]

    def _matched(self, term: Term) -> float:
        """Mean divergence of the emotions' vectors at a term's strength."""
        whatever = replace(term, seed=0)
        if whatever not in self._targets:
            alike = [replace(whatever, source="emotion", emotion=one) for one in self._need_vectors().emotions]
            made = [Intervention(tuple(self._edits(one))) for one in alike]
            self._targets[whatever] = float(divergence(self._need_subject(term), made).mean())
        return self._targets[whatever]

    def _need_subject(self, term: Term) -> Subject:
        if self._subject is None:
            raise UserError(
                f"{term}: a dose in nats is measured on the model, and no model is open. On the command line: --model."
            )
        return self._subject

    def _line(self, term: Term, edits: Sequence[Edit]) -> str:
        vectors = self._need_vectors()
        layers = [edit.layer for edit in edits]
        amounts = [edit.amount for edit in edits]
        shown = f"{amounts[0]:.4g}" if len(set(amounts)) == 1 else f"{amounts[0]:.4g} … {amounts[-1]:.4g}"
        paths = vectors.model.layer_paths
        first, last = paths[layers[0]], paths[layers[-1]]
        line = (
            f"{term.name} ({vectors.provenance.method if term.emotion else 'isotropic'}"
            f"{f', seed {term.seed}' if term.source != 'emotion' else ''}): {_WHAT[term.kind].format(amount=shown)} of "
            f"layer{'s' if len(layers) > 1 else ''} {ranges(layers)} of {vectors.model.n_layers} "
            f"({first if first == last else f'{first} … {last}'}), at {_WHERE[term.positions]}."
        )
        if str(term) in self._doses:
            line += f" The dose is {self._doses[str(term)]:.4g} × the median token norm."
        elif term.scale == "relative":
            line += f" That is {term.strength:g} × the median token norm."
        if term.emotion and vectors.provenance.dtype not in ("", "float32"):
            line += f" Extracted in {vectors.provenance.dtype}."
        if term.source == "emotion":
            cosines = vectors.cosines[vectors.index(term.emotion), [vectors.place(layer) for layer in layers]]
            if (weak := int((cosines < LEAST_COSINE).sum())) > 0:
                line += f" Weak: at {weak} of these layers its cosine to the mean difference is below {LEAST_COSINE}."
        return line


def find_dose(measured: Callable[[float], float], target: float, told: str) -> float:
    """Strength whose divergence is ``target``, by Brent's method on their logarithms.

    Args:
        measured: Divergence at a strength.
        target: Nats, above 0.
        told: What errors start with; the target follows.

    Raises:
        UserError: When the target is not reached within :data:`KL_RANGE`, or passed below it.
    """
    from scipy.optimize import brentq

    seen: dict[float, float] = {}

    def excess(log_strength: float) -> float:
        if log_strength not in seen:
            seen[log_strength] = measured(float(np.exp(log_strength)))
        return float(np.log(max(seen[log_strength], _NO_KL) / target))

    low, high = map(float, np.log(KL_RANGE))
    ends = excess(low), excess(high)
    if not ends[0] <= 0 <= ends[1]:
        raise UserError(
            f"{told} {target:.4g} nats, which cannot be had: strengths of {KL_RANGE[0]} to {KL_RANGE[1]} times the "
            f"median token norm give {seen[low]:.3g} to {seen[high]:.3g}. Take a "
            f"{'larger' if ends[0] > 0 else 'smaller'} one."
        )
    return float(np.exp(brentq(excess, low, high, xtol=DOSE_TOLERANCE)))
