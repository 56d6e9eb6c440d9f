"""The states a local model can be put in: from a run's condition strings to what the engine does."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from affectlab.errors import UserError, WorldError
from affectlab.models.cache import cache_folder, locked, say
from affectlab.models.gguf import checksum
from affectlab.steering import Applied, Applier, files, load_stimuli
from affectlab.steering import extract as extract_vectors
from affectlab.steering.coherence import MOST_KL, MOST_NLL_RISE, coherence
from affectlab.steering.conditions import parse
from affectlab.steering.contrast import Method
from affectlab.steering.subject import TokenRule

if TYPE_CHECKING:
    from affectlab.engine import Intervention
    from affectlab.steering import EmotionVectors, Subject

_METHOD: Method = "pca"
_RULE: TokenRule = "last"
"""How a model's own vectors are extracted when the user names no file: as the paper does."""


class Conditions:
    """Makes conditions ready for one model; vectors are read or extracted when the first condition needs them."""

    def __init__(self, subject: Subject, file: Path | None, dtype: str) -> None:
        """Take the model.

        Args:
            subject: The model.
            file: Emotion vectors; ``None`` for vectors of the bundled stimuli, extracted once and kept in the cache.
            dtype: Type of its weights: vectors of another type are not its own.
        """
        self._subject = subject
        self._file = file
        self._dtype = dtype
        self._applier: Applier | None = None
        self._applied: dict[str, Applied] = {}

    def intervention(self, condition: str) -> Intervention:
        """What the engine does under a condition.

        Raises:
            UserError: When the condition is not one, or the vectors have not what it needs or are another model's.
            WorldError: When vectors cannot be kept.
        """
        return self._apply(condition).intervention

    def prepare(self, conditions: Sequence[str]) -> dict[str, Any]:
        """Make conditions ready and say what a manifest records of them.

        Returns:
            ``vectors`` (where they come from, their checksum) and, for each condition, what is done where, its dose,
            and what it does to plain text (``kl`` and ``nll_rise`` in nats a token; ``damaged`` beyond the limits).
        """
        applied = [self._apply(condition) for condition in conditions]
        measured = coherence(self._subject, [one.intervention for one in applied])
        return {
            "vectors": self._described(),
            "limits": {"kl": MOST_KL, "nll_rise": MOST_NLL_RISE},
            "conditions": {
                condition: {
                    "does": list(one.lines),
                    **({"doses": dict(one.doses)} if one.doses else {}),
                    "kl": round(found.kl, 6),
                    "nll_rise": round(found.nll - found.neutral_nll, 6),
                    "damaged": found.damaged,
                }
                for condition, one, found in zip(conditions, applied, measured, strict=True)
            },
        }

    def _apply(self, condition: str) -> Applied:
        if condition not in self._applied:
            wanted = parse(condition)
            if wanted.terms and self._applier is None:
                self._applier = Applier(self._vectors(), self._subject)
            self._applied[condition] = (self._applier or Applier(None))(wanted)
        return self._applied[condition]

    def _vectors(self) -> EmotionVectors:
        if self._file is None:
            self._file = self._own()
        return files.load(self._file, self._subject.identity)

    def _own(self) -> Path:
        """File of the model's own vectors of the bundled stimuli, made now if there is none."""
        stimuli = load_stimuli()
        model = self._subject.identity
        parts = (files.FORMAT, model.model, model.tokenizer, self._dtype, stimuli.sha256, _METHOD, _RULE)
        key = hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()[:16]
        path = cache_folder("vectors") / f"{model.name.replace('/', '-')}-{key}.safetensors"
        if self._whole(path):
            return path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with locked(path.with_name(path.name + ".lock"), f"the emotion vectors of {model.name}"):
                if not self._whole(path):
                    say(f"First steering of {model.name}: extracting its emotion vectors, once, into {path}")
                    made = extract_vectors(self._subject, stimuli, _METHOD, _RULE)
                    _keep(made, path)
        except OSError as error:
            raise _cannot_keep(path, error.strerror or str(error)) from error
        return path

    def _whole(self, path: Path) -> bool:
        """Whether the cache has the vectors; a file that is damaged is made anew."""
        if not path.is_file():
            return False
        try:
            files.load(path, self._subject.identity)
        except UserError as error:
            say(f"The emotion vectors in the cache are damaged and made anew. {error}")
            return False
        return True

    def _described(self) -> Mapping[str, Any]:
        if self._file is None:
            return {}
        provenance = asdict(files.load(self._file).provenance)
        return {"file": self._file.name, "sha256": checksum([self._file]), **provenance}


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
