"""Getting everything done in passes that fit into memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from affectlab.engine.interventions import Intervention
from affectlab.engine.passes import Lanes, Walk, lanes
from affectlab.engine.stack import Stack
from affectlab.errors import WorldError

Run: TypeAlias = Callable[[Lanes, list[int], int, list[Walk]], Iterator[tuple[int, list[Any]]]]
"""From interventions, rows and a budget to each row with its results, one for each intervention; the walks it makes
are left in the list."""


@dataclass(frozen=True, slots=True)
class Runner:
    """Runs rows under interventions, in smaller passes when memory runs out; every result comes once.

    Attributes:
        stack: The model.
        budget: Most tokens of a pass.
        fork: Whether layers below the first edited one are computed once for all interventions.
    """

    stack: Stack
    budget: int
    fork: bool

    def together(
        self, numbers: Sequence[int], interventions: Sequence[Intervention], longest: int, run: Run
    ) -> Iterator[tuple[int, int, Any]]:
        """Run rows in common batches.

        Args:
            numbers: The rows.
            interventions: Each row is run under each.
            longest: Tokens of the longest row.
            run: Does it.

        Yields:
            Number of the row, number of the intervention, result.

        Raises:
            WorldError: When a single row does not fit into memory.
        """
        budget = self.budget
        most = max(1, budget // longest)
        for group in lanes(self.stack, interventions, most, fork=self.fork):
            todo = [(group, list(numbers))]
            while todo:
                some, rows = todo.pop()
                left = dict.fromkeys(rows)
                walks: list[Walk] = []
                try:
                    for row, results in run(some, rows, budget, walks):
                        del left[row]
                        for number, result in zip(some.numbers, results, strict=True):
                            yield row, number, result
                    continue
                except RuntimeError as error:
                    budget = smaller(error, budget, walks[-1].rows, walks[-1].tokens)
                    if len(some) > max(1, budget // longest):
                        parts = self._halves(some, interventions, fork=self.fork)
                        todo += [(part, list(left)) for part in parts]
                    else:
                        todo.append((some, list(left)))

    def alone(
        self,
        sizes: Mapping[int, int],
        interventions: Sequence[Intervention],
        run: Callable[[int, Lanes], list[Any]],
    ) -> Iterator[tuple[int, int, Any]]:
        """Run rows one by one, each under as many interventions at once as the budget lets.

        Args:
            sizes: The rows, and the tokens of each.
            interventions: Each row is run under each.
            run: From a row and interventions to results, one for each intervention.

        Yields:
            Number of the row, number of the intervention, result.

        Raises:
            WorldError: When a single row does not fit into memory.
        """
        for row, size in sizes.items():
            todo = lanes(self.stack, interventions, max(1, self.budget // size), fork=False)
            while todo:
                some = todo.pop(0)
                try:
                    results = run(row, some)
                except RuntimeError as error:
                    smaller(error, self.budget, len(some), len(some) * size)
                    todo = [*self._halves(some, interventions, fork=False), *todo]
                    continue
                for number, result in zip(some.numbers, results, strict=True):
                    yield row, number, result

    def _halves(self, some: Lanes, interventions: Sequence[Intervention], *, fork: bool) -> list[Lanes]:
        mine = [interventions[number] for number in some.numbers]
        parts = lanes(self.stack, mine, max(1, len(some) // 2), fork=fork)
        for part in parts:
            part.numbers = tuple(some.numbers[number] for number in part.numbers)
        return parts


def smaller(error: RuntimeError, budget: int, rows: int, tokens: int) -> int:
    """The budget after memory ran out on a pass of some rows and tokens; other errors go on.

    Raises:
        WorldError: When it ran out on a single row.
    """
    import torch

    if not isinstance(error, torch.OutOfMemoryError) and "can't allocate memory" not in str(error):
        raise error
    if rows <= 1:
        raise WorldError(f"Memory ran out on a single row of the batch: {error}") from error
    torch.cuda.empty_cache()
    return max(1, min(budget, tokens) // 2)
