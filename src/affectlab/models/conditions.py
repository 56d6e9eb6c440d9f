"""The states a local model can be put in: from a run's condition strings to what the engine does."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from affectlab.errors import UserError, WorldError
from affectlab.models.cache import cache_folder, locked, say
from affectlab.steering import Applied, Applier, files, load_stimuli
from affectlab.steering import extract as extract_vectors
from affectlab.steering.coherence import MOST_KL, MOST_NLL_RISE, Coherence, coherence
from affectlab.steering.conditions import parse
from affectlab.steering.contrast import Method
from affectlab.steering.subject import TokenRule

if TYPE_CHECKING:
    from affectlab.engine import Intervention
    from affectlab.steering import EmotionVectors, Subject

_METHOD: Method = "pca"
_RULE: TokenRule = "last"
"""How a model's own vectors are extracted when the user names no file: as the paper does."""

_BETWEEN_LINES = 10.0
"""Seconds."""


class Conditions:
    """Makes conditions ready for one model; vectors are read or extracted when the first condition needs them."""

    def __init__(self, subject: Subject, file: Path | None) -> None:
        """Take the model.

        Args:
            subject: The model.
            file: Emotion vectors; ``None`` for vectors of the bundled stimuli, extracted once and kept in the cache.
        """
        self._subject = subject
        self._file = file
        self._applier: Applier | None = None
        self._applied: dict[str, Applied] = {}

    def intervention(self, condition: str) -> Intervention:
        """What the engine does under a condition.

        Raises:
            UserError: When the condition is not one, or the vectors have not what it needs or are another model's.
            WorldError: When vectors cannot be kept.
        """
        return self._apply(condition).intervention

    def prepare(self, conditions: Sequence[str], kept: Path, recorded: Mapping[str, Any]) -> dict[str, Any]:
        """Make conditions ready and say what a manifest records of them; see :class:`affectlab.models.Steerable`.

        Vectors go into ``kept``, as far as the conditions rest on them. A run that goes on takes them, and doses, from
        there and from its record, and is not measured again. A file of vectors that the user names is looked at
        nevertheless: it must hold the same ones.

        Returns:
            ``vectors`` (where they come from, their digest) and, for each condition, what is done where, its dose, and
            what it does to plain text (``kl`` and ``nll_rise`` in nats a token, each with its standard error;
            ``damaged`` beyond the limits).
        """
        going_on = bool(recorded)
        before = self._kept(kept) if going_on else None
        name, found = (kept.name, before) if before else self._found()
        vectors = found.needed(map(parse, conditions))
        described = {"file": name, "sha256": vectors.sha256, **asdict(vectors.provenance)}
        states = recorded.get("conditions", {})
        doses = {term: dose for state in states.values() for term, dose in state.get("doses", {}).items()}
        if going_on and described["sha256"] != recorded.get("vectors", {}).get("sha256"):
            return {**recorded, "vectors": described}
        if before is None:
            files.save(vectors, kept)
        self._applier, self._applied = Applier(vectors, self._subject, doses), {}
        applied = [self._apply(condition) for condition in conditions]
        if going_on:
            return dict(recorded)
        measured = coherence(self._subject, [one.intervention for one in applied])
        return {
            "vectors": described,
            "limits": {"kl": MOST_KL, "nll_rise": MOST_NLL_RISE},
            "conditions": {
                condition: _state(one, plain)
                for condition, one, plain in zip(conditions, applied, measured, strict=True)
            },
        }

    def _apply(self, condition: str) -> Applied:
        if condition not in self._applied:
            wanted = parse(condition)
            if wanted.terms and self._applier is None:
                self._applier = Applier(self._found()[1], self._subject)
            self._applied[condition] = (self._applier or Applier(None))(wanted)
        return self._applied[condition]

    def _kept(self, kept: Path) -> EmotionVectors | None:
        """What a run kept; ``None`` where what it was made from is there to be looked at, or where it is damaged."""
        if not kept.is_file() or (self._file is not None and self._file.is_file()):
            return None
        try:
            found = files.load(kept, self._subject.identity)
        except UserError as error:
            say(f"The vectors that the run kept cannot be used: they are made anew, and must be the same. {error}")
            return None
        if self._file is not None:
            say(f"{self._file} is gone: going on with the vectors that the run kept in {kept}.")
        return found

    def _found(self) -> tuple[str, EmotionVectors]:
        """Vectors and the name of their file: what the user names, or the model's own."""
        if self._file is not None:
            return self._file.name, files.load(self._file, self._subject.identity)
        return self._own()

    def _own(self) -> tuple[str, EmotionVectors]:
        """The model's own vectors of the bundled stimuli, made now if the cache has none."""
        stimuli = load_stimuli()
        model = self._subject.identity
        parts = (files.FORMAT, model.model, model.tokenizer, self._subject.dtype, stimuli.sha256, _METHOD, _RULE)
        key = hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()[:16]
        path = cache_folder("vectors") / f"{model.name.replace('/', '-')}-{key}.safetensors"
        found = self._cached(path)
        if found is None:
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                with locked(path.with_name(path.name + ".lock"), f"the emotion vectors of {model.name}"):
                    found = self._cached(path)
                    if found is None:
                        for left in path.parent.glob(f".{path.name}.*.part"):  # by a writer that was killed
                            left.unlink(missing_ok=True)
                        say(f"First steering of {model.name}: extracting its emotion vectors, once, into {path}")
                        found = extract_vectors(self._subject, stimuli, _METHOD, _RULE, progress=_said_now_and_then())
                        _keep(found, path)
            except OSError as error:
                raise _cannot_keep(path, error.strerror or str(error)) from error
        return path.name, found

    def _cached(self, path: Path) -> EmotionVectors | None:
        """What the cache has; a file that is damaged is made anew."""
        if not path.is_file():
            return None
        try:
            return files.load(path, self._subject.identity)
        except UserError as error:
            say(f"The emotion vectors in the cache are damaged and made anew. {error}")
            return None


def _state(applied: Applied, plain: Coherence) -> dict[str, Any]:
    """What a manifest records of a condition."""
    return {
        "does": list(applied.lines),
        **({"doses": dict(applied.doses)} if applied.doses else {}),
        **{name: None if value is None else round(value, 6) for name, value in asdict(plain).items()},
        "damaged": plain.damaged,
    }


def _said_now_and_then() -> Callable[[str, int, int], None]:
    """Says how far an extraction is, now and then: the run that waits for it shows its bar at nothing."""
    last = monotonic()

    def told(what: str, done: int, total: int) -> None:
        nonlocal last
        if monotonic() - last >= _BETWEEN_LINES:
            say(f"  {what}: {done} of {total}")
            last = monotonic()

    return told


def _keep(vectors: EmotionVectors, path: Path) -> None:
    try:
        files.save(vectors, path)
    except WorldError as error:
        raise _cannot_keep(path, str(error)) from error


def _cannot_keep(path: Path, reason: str) -> WorldError:
    return WorldError(
        f"Cannot keep emotion vectors in {path}: {reason.rstrip('.')}. Make room there, point XDG_CACHE_HOME "
        "elsewhere, or name a file of affectlab vectors extract with --vectors."
    )
