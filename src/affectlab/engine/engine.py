"""The local engine: many texts under many interventions, each thing computed once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from affectlab.engine import hidden as hidden_states
from affectlab.engine.generating import Continuation
from affectlab.engine.hidden import HiddenFile, Position
from affectlab.engine.interventions import NEUTRAL, Intervention
from affectlab.engine.interventions import check as check_interventions
from affectlab.engine.memory import keeps_state, levels, shortest_window
from affectlab.engine.passes import Lanes, Walk, lanes
from affectlab.engine.precision import check_precision
from affectlab.engine.prefixes import forest
from affectlab.engine.rows import EngineReport, EngineSettings, Generated, GenerateRow, ScoreRow
from affectlab.engine.scoring import ScorePlan, Sums, check_finite, check_ids, check_rows, name
from affectlab.engine.selfcheck import check
from affectlab.engine.stack import Stack
from affectlab.errors import UserError, WorldError


class Engine:
    """Scores options, generates and reads layers with a transformers model, under any interventions.

    Beginnings that texts share are computed once, and so are the layers below the first edited one; every text goes
    through the model under all interventions in the same passes. At load each of these ways is tried against a plain
    pass, and left out where it does not give the same (:attr:`report` says so).

    Results come as they are done, each with the number of its row and of its intervention. When memory runs out, passes
    get smaller and what is missing is computed again. Stopping an iteration early leaves the model as it was.

    Attributes:
        n_layers: Layers of the model.
        width: Size of a layer's output.
        layer_paths: Path of each layer's module from the model.
        report: What was found out at load.
    """

    def __init__(self, model: Any, *, end_ids: Collection[int] = (), settings: EngineSettings | None = None) -> None:
        """Take a model and check it.

        Args:
            model: A transformers causal language model, or a vision-language model whose text side is used, in
                evaluation mode.
            end_ids: Tokens that end a text.
            settings: How to work.

        Raises:
            UserError: When the model's layers cannot be told, or its number type cannot hold what they put out.
        """
        import torch

        self._settings = settings or EngineSettings()
        self._stack = Stack(model, self._settings.layers)
        self._end_ids = frozenset(end_ids)
        self.n_layers = len(self._stack)
        self.width = self._stack.width
        self.layer_paths = self._stack.paths
        config = self._stack.config
        dtype = next(model.parameters()).dtype
        exact = dtype == torch.float32
        precision = check_precision(self._stack, dtype)
        self._room = precision.room
        checked = check(self._stack, exact=exact)
        self._budget = self._settings.batch_tokens if checked.batch else 1
        self._generates = checked.cache
        notes = [*checked.notes, *precision.notes]
        experts = next(
            (value for key in ("num_local_experts", "num_experts") if (value := getattr(config, key, None))), None
        )
        if experts:
            notes.append("A mixture of experts: an edit may change which experts are used.")
        self.report = EngineReport(
            layers=self.layer_paths[0].rpartition(".")[0],
            n_layers=self.n_layers,
            dtype=str(dtype).removeprefix("torch."),
            exact=exact,
            head_rows=checked.head_rows,
            sharing=checked.sharing and self._settings.sharing,
            fork=checked.fork and self._settings.fork,
            recurrent=keeps_state(config),
            window=shortest_window(config),
            experts=experts,
            deviations=checked.deviations,
            notes=tuple(notes),
        )

    def score(
        self, rows: Sequence[ScoreRow], interventions: Sequence[Intervention] = (NEUTRAL,)
    ) -> Iterator[tuple[int, int, NDArray[np.float64]]]:
        """Summed natural-log probability of every option's tokens right after its prompt.

        Token ids are joined as they are; nothing is tokenised again.

        Args:
            rows: Prompts and options.
            interventions: Every row is scored under each.

        Yields:
            Number of the row, number of the intervention, log-probabilities ``[option]``.

        Raises:
            UserError: When a row or an intervention does not fit the model.
            WorldError: When logits are not finite, or a single row does not fit into memory.
        """
        self._check(interventions)
        check_rows(rows, self._vocabulary)
        coded = any(one.positions != "all" for one in interventions)
        sizes = [len(row.prompt) + max(map(len, row.options)) - 1 for row in rows]

        def run(together: Lanes, numbers: list[int], budget: int, walks: list[Walk]) -> Iterator[tuple[int, Any]]:
            plan = ScorePlan(rows, numbers, self._levels(sizes), coded=coded)
            walks.append(Walk(self._stack, together, budget, plan.reads))
            sums = Sums(plan, rows, len(together))
            for batch in walks[-1].run(plan.roots):
                for row, found in sums.add(batch.nodes, batch.logits):
                    yield row, list(found)

        yield from self._each(rows, interventions, max(sizes, default=1), run)

    def next_tokens(
        self, rows: Sequence[Sequence[int]], interventions: Sequence[Intervention] = (NEUTRAL,)
    ) -> Iterator[tuple[int, int, NDArray[np.float32]]]:
        """Natural-log probability of every token of the vocabulary after each text.

        Yields:
            Number of the text, number of the intervention, log-probabilities ``[vocabulary]``.

        Raises:
            UserError: When a text or an intervention does not fit the model.
            WorldError: When logits are not finite, or a single text does not fit into memory.
        """
        self._check(interventions)
        for number, ids in enumerate(rows):
            check_ids(f"row {number}", ids, self._vocabulary, "text")
        sizes = [len(ids) for ids in rows]

        def run(together: Lanes, numbers: list[int], budget: int, walks: list[Walk]) -> Iterator[tuple[int, Any]]:
            texts = [tuple(2 * token for token in rows[number]) for number in numbers]
            walks.append(
                Walk(self._stack, together, budget, lambda node: () if node.text is None else (len(node.tokens) - 1,))
            )
            for batch in walks[-1].run(forest(texts, self._levels(sizes))):
                ended = [numbers[node.text] for node in batch.nodes if node.text is not None]
                if ended:
                    check_finite(batch.logits, [[f"row {row}"] for row in ended])
                    for row, found in zip(ended, batch.logits.log_softmax(-1).cpu().numpy(), strict=True):
                        yield row, list(found)

        yield from self._each(rows, interventions, max(sizes, default=1), run)

    def generate(
        self, rows: Sequence[GenerateRow], interventions: Sequence[Intervention] = (NEUTRAL,)
    ) -> Iterator[tuple[int, int, Generated]]:
        """Continue every prompt under every intervention; a text does not depend on what it is batched with.

        Args:
            rows: Prompts, each with how it is continued.
            interventions: Every prompt is continued under each.

        Yields:
            Number of the row, number of the intervention, the text.

        Raises:
            UserError: When a row or an intervention does not fit the model, or the model's cache is not exact.
            WorldError: When logits are not finite, or a single row does not fit into memory.
        """
        self._check(interventions)
        for number, row in enumerate(rows):
            check_ids(name(rows, number), row.prompt, self._vocabulary, "prompt")
        if not self._generates:
            raise UserError("This model's cache does not give what a plain pass gives: " + " ".join(self.report.notes))
        sizes = [len(row.prompt) + row.generation.max_tokens for row in rows]

        def run(together: Lanes, numbers: list[int], budget: int, walks: list[Walk]) -> Iterator[tuple[int, Any]]:
            texts = [tuple(2 * token for token in rows[number].prompt) for number in numbers]
            walks.append(
                Walk(
                    self._stack,
                    together,
                    budget,
                    lambda node: () if node.text is None else (len(node.tokens) - 1,),
                    keep=True,
                    spare=lambda node: 0 if node.text is None else rows[numbers[node.text]].generation.max_tokens,
                )
            )
            writing = Continuation(self._stack, together, rows, numbers, self._end_ids)
            found: dict[int, dict[int, Generated]] = {}
            for batch in walks[-1].run(forest(texts, self._levels(sizes, growing=True))):
                for row, lane, text in writing.run(batch):
                    found.setdefault(row, {})[lane] = text
                    if len(found[row]) == len(together):
                        done = found.pop(row)
                        yield row, [done[lane] for lane in range(len(together))]

        yield from self._each(rows, interventions, max(sizes, default=1), run)

    def hidden(
        self, rows: Sequence[Sequence[int]], layers: Sequence[int] | None = None, position: Position = "last"
    ) -> NDArray[np.float32]:
        """Layer outputs as they leave the layer, before any final norm.

        Args:
            rows: Texts as token ids.
            layers: Numbers from 0 for the first block; ``None`` for all.
            position: The ``last`` token, or the ``mean`` over all.

        Returns:
            ``[row, layer, width]``, float32.

        Raises:
            UserError: When a text or a layer does not fit the model.
            WorldError: When outputs are not finite, or a single text does not fit into memory.
        """
        chosen = hidden_states.check_request(self._stack, layers, position)
        found = np.empty((len(rows), len(chosen), self.width), np.float32)
        for numbers, read in self._hidden(rows, chosen, position):
            found[numbers] = read
        return found

    def hidden_to_file(
        self,
        path: Path,
        rows: Sequence[Sequence[int]],
        layers: Sequence[int] | None = None,
        position: Position = "last",
        metadata: dict[str, str] | None = None,
    ) -> Path:
        """As :meth:`hidden`, written batch by batch into a safetensors file as tensor ``hidden``.

        Raises:
            UserError: When a text or a layer does not fit the model.
            WorldError: When outputs are not finite, a single text does not fit into memory, or the file cannot be
                written. No file is left then.
        """
        chosen = hidden_states.check_request(self._stack, layers, position)
        where = {"layers": ",".join(map(str, chosen)), "position": position, "index_base": "0 is the first block"}
        file = HiddenFile(path, (len(rows), len(chosen), self.width), where | (metadata or {}))
        try:
            for numbers, read in self._hidden(rows, chosen, position):
                file.write(numbers, read)
            file.finish()
        finally:
            file.discard()
        return path

    @property
    def _vocabulary(self) -> int:
        return int(self._stack.config.vocab_size)

    def _check(self, interventions: Sequence[Intervention]) -> None:
        check_interventions(interventions, self.width, self._room)

    def _levels(self, sizes: Sequence[int], *, growing: bool = False) -> int:
        return levels(self._stack.config, max(sizes, default=0), growing=growing) if self.report.sharing else 1

    def _each(
        self, rows: Sequence[Any], interventions: Sequence[Intervention], longest: int, run: Callable[..., Any]
    ) -> Iterator[tuple[int, int, Any]]:
        """Run all rows under all interventions, in smaller passes when memory runs out."""
        budget = self._budget
        most = max(1, budget // longest)
        for together in lanes(self._stack, interventions, most, fork=self.report.fork):
            todo = [(together, list(range(len(rows))))]
            while todo:
                some, numbers = todo.pop()
                left = dict.fromkeys(numbers)
                walks: list[Walk] = []
                try:
                    for row, results in run(some, numbers, budget, walks):
                        del left[row]
                        for number, result in zip(some.numbers, results, strict=True):
                            yield row, number, result
                    continue
                except RuntimeError as error:
                    budget = _smaller(error, budget, walks[-1].rows, walks[-1].tokens)
                    if len(some) > max(1, budget // longest):
                        parts = lanes(
                            self._stack,
                            [interventions[number] for number in some.numbers],
                            max(1, len(some) // 2),
                            fork=self.report.fork,
                        )
                        for part in parts:
                            part.numbers = tuple(some.numbers[number] for number in part.numbers)
                            todo.append((part, list(left)))
                    else:
                        todo.append((some, list(left)))

    def _hidden(
        self, rows: Sequence[Sequence[int]], layers: list[int], position: Position
    ) -> Iterator[tuple[list[int], NDArray[np.float32]]]:
        for number, ids in enumerate(rows):
            check_ids(f"row {number}", ids, self._vocabulary, "text")
        todo = list(hidden_states.batches([len(ids) for ids in rows], self._budget))
        while todo:
            numbers = todo.pop(0)
            try:
                read = hidden_states.outputs(self._stack, [rows[number] for number in numbers], layers, position)
            except RuntimeError as error:
                _smaller(error, self._budget, len(numbers), self._budget)
                middle = len(numbers) // 2
                todo[:0] = [numbers[:middle], numbers[middle:]]
                continue
            bad = [number for number, row in zip(numbers, read, strict=True) if not np.isfinite(row).all()]
            if bad:
                raise WorldError(
                    f"Layer outputs are not finite for row {', row '.join(map(str, bad[:5]))}: use float32."
                )
            yield numbers, read


def _smaller(error: RuntimeError, budget: int, rows: int, tokens: int) -> int:
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
