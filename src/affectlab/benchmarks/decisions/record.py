"""A decision item as it stands in a file, and the item made of it.

A decision is a story told to the one who decides, in one role of one game, with options that stand in the order of
their values. Nothing in it is right or wrong: what is measured is whether choices move.

What a prediction of this benchmark carries, for whoever computes figures of it:

* slot ``choice``; ``gold`` is always ``None``;
* ``value`` is ``y``, the amount of the focal behaviour of the chosen option (a float), ``None`` when none was read;
* slices ``role`` (a key of ``affectlab.games.ROLES``), ``game``, ``source``, ``language``, ``turns`` (``single`` or
  ``multi``), and ``y_min`` and ``y_max``, the item's feasible range of ``y``, as text that ``float`` reads;
* ``detail`` (of rows, not of the table): ``option`` (its text), ``value`` (in the game's own terms), ``logprobs``
  where options were scored, and where a model reasoned ``reasoning``, ``reasoning_words`` and ``affective`` (emotion id
  -> how many of its words).

Source: the emotion-sensitive decisions paper (arXiv 2604.06562), section "Decision Dataset Construction".
"""

from __future__ import annotations

SLOT = "choice"
"""The one slot of a decision."""
