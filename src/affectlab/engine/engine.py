"""The local engine: many texts under many interventions, each thing computed once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from affectlab.engine import hidden as hidden_states
from affectlab.engine.generating import Continuation
from affectlab.engine.hidden import Position, Read
from affectlab.engine.interventions import NEUTRAL, Intervention
from affectlab.engine.interventions import check as check_interventions
from affectlab.engine.limits import Limits
from affectlab.engine.memory import LEVELS, levels
from affectlab.engine.opening import open_stack
from affectlab.engine.passes import Lanes, Walk, lanes
from affectlab.engine.pictured import Pictured, check_inputs
from affectlab.engine.prefixes import forest
from affectlab.engine.rows import EngineSettings, Generated, GenerateRow, ScoreRow, TextRow
from affectlab.engine.running import Run, Runner, smaller
from affectlab.engine.scoring import ScorePlan, Sums, check_finite, name, not_finite
from affectlab.engine.stack import Stack
from affectlab.errors import UserError


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
        context: Most tokens of a text, where the model states it.
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
            WorldError: When what it says to a short text is not finite: its weights are damaged.
        """
        settings = settings or EngineSettings()
        self._stack = Stack(model, settings.layers)
        self._end_ids = frozenset(end_ids)
        self.n_layers = len(self._stack)
        self.width = self._stack.width
        self._limits = Limits.of(self._stack.config)
        self.context = self._limits.context
        self.layer_paths = self._stack.paths
        opened = open_stack(self._stack, settings)
        self.report = opened.report
        self._room = opened.room
        self._generates = opened.generates
        self._runner = Runner(self._stack, settings.batch_tokens if opened.batches else 1, self.report.fork)

    def __repr__(self) -> str:
        return f"Engine({type(self._stack.model).__name__}: {self.n_layers} layers × {self.width}, {self.report.dtype})"

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
        self._limits.check_scored(rows)
        coded = any(one.positions != "all" for one in interventions)
        sizes = [len(row.prompt) + max(map(len, row.options)) - 1 for row in rows]
        plain, pictured = self._split(rows, [len(row.prompt) for row in rows])

        def run(together: Lanes, numbers: list[int], budget: int, walks: list[Walk]) -> Iterator[tuple[int, Any]]:
            pieces = self._levels([sizes[number] for number in numbers])
            plan = ScorePlan(rows, numbers, pieces, coded=coded)
            packs = self.report.packing and pieces == LEVELS
            walks.append(Walk(self._stack, together, budget, plan.reads, packs=packs))
            sums = Sums(plan, rows, len(together), self.report.dtype)
            for batch in walks[-1].run(plan.roots):
                for row, found in sums.add(batch.nodes, batch.logits):
                    yield row, list(found)

        def alone(number: int, together: Lanes) -> list[Any]:
            return Pictured(self._stack, together).score(rows[number], name(rows, number))

        yield from self._each(plain, pictured, sizes, interventions, run, alone)

    def every_token(
        self, rows: Sequence[Sequence[int]], interventions: Sequence[Intervention] = (NEUTRAL,)
    ) -> Iterator[tuple[int, int, NDArray[np.float32]]]:
        """Natural-log probability of every token of the vocabulary after each token of each text.

        Yields:
            Number of the text, number of the intervention, log-probabilities ``[token, vocabulary]``.

        Raises:
            UserError: When a text or an intervention does not fit the model.
            WorldError: When logits are not finite, or a single text does not fit into memory.
        """
        self._check(interventions)
        texts = self._texts(rows)

        def run(together: Lanes, numbers: list[int], budget: int, walks: list[Walk]) -> Iterator[tuple[int, Any]]:
            coded = [tuple(2 * token for token in texts[number].ids) for number in numbers]
            walks.append(Walk(self._stack, together, budget, lambda node: range(len(node.tokens))))
            for batch in walks[-1].run(forest(coded, 1)):
                ended = [numbers[node.text] for node in batch.nodes if node.text is not None]
                each = [[name(texts, row)] for row in ended for _ in texts[row].ids]
                check_finite(batch.logits, each, self.report.dtype)
                found = batch.logits.log_softmax(-1).transpose(0, 1).cpu().numpy()
                ends = np.cumsum([len(node.tokens) for node in batch.nodes])
                for row, logprobs in zip(ended, np.split(found, ends[:-1], axis=1), strict=True):
                    yield row, list(logprobs)

        yield from self._each(
            range(len(texts)), (), [len(text.ids) for text in texts], interventions, run, lambda *_: []
        )

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
        self._limits.check_continued(rows)
        if not self._generates:
            raise UserError("This model's cache does not give what a plain pass gives: " + " ".join(self.report.notes))
        sizes = [len(row.prompt) + row.generation.max_tokens for row in rows]
        plain, pictured = self._split(rows, [len(row.prompt) for row in rows])

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
            pieces = self._levels([sizes[number] for number in numbers], growing=True)
            for batch in walks[-1].run(forest(texts, pieces)):
                for row, lane, text in writing.run(batch):
                    found.setdefault(row, {})[lane] = text
                    if len(found[row]) == len(together):
                        done = found.pop(row)
                        yield row, [done[lane] for lane in range(len(together))]

        def alone(number: int, together: Lanes) -> list[Any]:
            return Pictured(self._stack, together).generate(rows[number], name(rows, number), self._end_ids)

        yield from self._each(plain, pictured, sizes, interventions, run, alone)

    def hidden(
        self,
        rows: Sequence[Sequence[int] | TextRow],
        layers: Sequence[int] | None = None,
        position: Position = "last",
    ) -> NDArray[np.float32]:
        """Layer outputs as they leave the layer, before any final norm.

        Args:
            rows: Texts as token ids, or with what their images became.
            layers: Numbers from 0 for the first block; ``None`` for all.
            position: Which tokens of a text are read; see :data:`affectlab.engine.hidden.Position`.

        Returns:
            ``[row, layer, width]``, float32.

        Raises:
            UserError: When a text or a layer does not fit the model.
            WorldError: When outputs are not finite, or a single text does not fit into memory.
        """
        chosen = hidden_states.check_request(self._stack, layers, position)
        found = np.empty((len(rows), len(chosen), self.width), np.float32)
        for numbers, read in self._hidden(rows, chosen, position):
            found[numbers] = read.outputs
        return found

    def states(
        self, rows: Sequence[Sequence[int] | TextRow], layers: Sequence[int] | None = None
    ) -> list[NDArray[np.float32]]:
        """As :meth:`hidden`, of every token by itself: for each text ``[token, layer, width]``."""
        chosen = hidden_states.check_request(self._stack, layers, "last")
        found: dict[int, NDArray[np.float32]] = {}
        for numbers, read in self._hidden(rows, chosen, None):
            found |= dict(zip(numbers, read.outputs, strict=True))
        return [found[number] for number in range(len(rows))]

    def hidden_to_file(
        self,
        path: Path,
        rows: Sequence[Sequence[int] | TextRow],
        layers: Sequence[int] | None = None,
        position: Position = "last",
        metadata: dict[str, str] | None = None,
    ) -> Path:
        """As :meth:`hidden`, written batch by batch into a safetensors file.

        It holds ``hidden``, and ``tokens``, int32 ``[row, layer]``: of how many tokens of the text each output is the
        mean. Its metadata say which tokens those are.

        Raises:
            UserError: When a text or a layer does not fit the model, or something other than a file is at ``path``.
            WorldError: When outputs are not finite, a single text does not fit into memory, or the file cannot be
                written. What was at ``path`` stays then.
        """
        chosen = hidden_states.check_request(self._stack, layers, position)
        where = {
            "layers": ",".join(map(str, chosen)),
            "position": position,
            "tokens": hidden_states.RULES[position],
            "index_base": "0 is the first block",
        }
        shape = (len(rows), len(chosen), self.width)
        with hidden_states.hidden_file(path, shape, where | (metadata or {})) as file:
            for numbers, read in self._hidden(rows, chosen, position):
                file.write(numbers, read)
        return path

    def _check(self, interventions: Sequence[Intervention]) -> None:
        check_interventions(interventions, self.width, self._room)

    def _texts(self, rows: Sequence[Sequence[int] | TextRow]) -> list[TextRow]:
        texts = [row if isinstance(row, TextRow) else TextRow(row) for row in rows]
        self._limits.check_read(texts)
        return texts

    def _split(self, rows: Sequence[Any], lengths: Sequence[int]) -> tuple[list[int], list[int]]:
        """Rows of text alone, and rows with images, whose inputs are checked."""
        pictured = [number for number, row in enumerate(rows) if row.inputs is not None]
        for number in pictured:
            check_inputs(self._stack, name(rows, number), rows[number].inputs, lengths[number])
        return [number for number, row in enumerate(rows) if row.inputs is None], pictured

    def _levels(self, sizes: Sequence[int], *, growing: bool = False) -> int:
        longest = max(sizes, default=0)
        if not self.report.sharing or self._switches(longest):
            return 1
        return levels(self._stack.config, longest, growing=growing)

    def _switches(self, length: int) -> bool:
        """Whether a text is long enough for its positions to be rotated in another way than those of others."""
        return self.report.switch is not None and length > self.report.switch

    def _each(
        self,
        plain: Sequence[int],
        pictured: Sequence[int],
        sizes: Sequence[int],
        interventions: Sequence[Intervention],
        run: Run,
        alone: Callable[[int, Lanes], list[Any]],
    ) -> Iterator[tuple[int, int, Any]]:
        """Run rows of text together, and rows with images one by one."""
        short = [number for number in plain if not self._switches(sizes[number])]
        long = [number for number in plain if self._switches(sizes[number])]
        for runner, some in ((self._runner, short), (replace(self._runner, budget=1), long)):
            longest = max((sizes[number] for number in some), default=1)
            yield from runner.together(some, interventions, longest, run)
        yield from self._runner.alone({number: sizes[number] for number in pictured}, interventions, alone)

    def _hidden(
        self, rows: Sequence[Sequence[int] | TextRow], layers: list[int], position: Position | None
    ) -> Iterator[tuple[list[int], Read]]:
        texts = self._texts(rows)
        lengths = [len(text.ids) for text in texts]
        plain, pictured = self._split(texts, lengths)
        short = [number for number in plain if not self._switches(lengths[number])]
        todo = [
            [short[place] for place in batch]
            for batch in hidden_states.batches([lengths[number] for number in short], self._runner.budget)
        ]
        todo += [[number] for number in plain if self._switches(lengths[number])]
        todo += [[number] for number in pictured]
        while todo:
            numbers = todo.pop(0)
            try:
                if texts[numbers[0]].inputs is None:
                    some = [texts[number].ids for number in numbers]
                    read = hidden_states.outputs(self._stack, some, layers, position)
                else:
                    (neutral,) = lanes(self._stack, (NEUTRAL,), 1, fork=False)
                    (number,) = numbers
                    found = Pictured(self._stack, neutral).hidden(texts[number], layers, name(texts, number))
                    read = hidden_states.pooled(found, None, layers, position)
            except RuntimeError as error:
                smaller(error, self._runner.budget, len(numbers), self._runner.budget)
                middle = len(numbers) // 2
                todo[:0] = [numbers[:middle], numbers[middle:]]
                continue
            bad = [number for number, row in zip(numbers, read.outputs, strict=True) if not np.isfinite(row).all()]
            if bad:
                raise not_finite("layer outputs", [name(texts, number) for number in bad], self.report.dtype)
            yield numbers, read
