"""A named mapping from one label space to another."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping as AbstractMapping
from dataclasses import dataclass, field
from html import escape

from affectlab.errors import UserError
from affectlab.labels.space import LabelSpace


@dataclass(frozen=True, slots=True)
class Mapping:
    """Where each label of one space goes in another, and why.

    Attributes:
        name: What the user types.
        source: Name of the space mapped from.
        target: Name of the space mapped to.
        pairs: Source id -> target id.
        dropped: Source ids that have no counterpart on purpose.
        reasons: Source id -> the criterion that decided it.
        citation: Where the mapping is printed.
    """

    name: str
    source: str
    target: str
    pairs: AbstractMapping[str, str]
    dropped: tuple[str, ...] = ()
    reasons: AbstractMapping[str, str] = field(default_factory=dict)
    citation: str = ""

    def apply(self, label_id: str) -> str | None:
        """Target id of a source id; ``None`` when the mapping drops it.

        Raises:
            UserError: When the id is not one the mapping knows of.
        """
        if label_id in self.pairs:
            return self.pairs[label_id]
        if label_id in self.dropped:
            return None
        raise UserError(f"mapping {self.name!r} knows no label {label_id!r} of {self.source!r}")

    def apply_set(self, label_ids: Iterable[str]) -> tuple[str, ...]:
        """Target ids of several source ids, sorted and without repeats; dropped ones leave nothing."""
        return tuple(sorted({to for label_id in label_ids if (to := self.apply(label_id)) is not None}))

    def check(self, source: LabelSpace, target: LabelSpace) -> None:
        """Checks that every source label is covered once and every target id exists.

        Raises:
            UserError: Naming what is missing, double or unknown.
        """
        covered = (*self.pairs, *self.dropped)
        problems = [f"{i!r} is both mapped and dropped" for i in self.dropped if i in self.pairs]
        problems += [f"{i!r} is not a label of {source.name!r}" for i in covered if i not in source]
        problems += [f"{i!r} of {source.name!r} is not covered" for i in source.ids if i not in covered]
        problems += [f"{i!r} is not a label of {target.name!r}" for i in self.pairs.values() if i not in target]
        problems += [f"a reason is given for {i!r}, which is not covered" for i in self.reasons if i not in covered]
        if problems:
            raise UserError(f"mapping {self.name!r}: " + "; ".join(problems))

    def __repr__(self) -> str:
        return f"Mapping({self.name!r}: {len(self.pairs)} mapped, {len(self.dropped)} dropped)"

    def _repr_html_(self) -> str:
        rows = [(a, b, self.reasons.get(a, "")) for a, b in self.pairs.items()]
        rows += [(a, "(dropped)", self.reasons.get(a, "")) for a in self.dropped]
        body = "".join("<tr>" + "".join(f"<td>{escape(c)}</td>" for c in row) + "</tr>" for row in rows)
        head = f"<tr><th>{escape(self.source)}</th><th>{escape(self.target)}</th><th>criterion</th></tr>"
        return f"<table><caption>{escape(self.name)}</caption>{head}{body}</table>"
