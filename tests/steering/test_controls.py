from __future__ import annotations

import numpy as np

from affectlab.steering.contrast import directions, permuted
from affectlab.steering.controls import shuffled
from affectlab.steering.stimuli import Stimuli
from affectlab.steering.subject import Subject
from affectlab.steering.vectors import extract


def test_shuffled_labels_go_through_the_vectors_own_method(subject: Subject, stimuli: Stimuli) -> None:
    vectors = extract(subject, stimuli, "mean_difference")
    assert vectors.activations is not None
    mixed = permuted(vectors.activations, 5)
    np.testing.assert_array_equal(shuffled(vectors, 5).unit, directions(mixed, "mean_difference").unit)
    assert np.abs(shuffled(vectors, 5).unit - directions(mixed, "pca").unit).max() > 0.01
