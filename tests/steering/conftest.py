from __future__ import annotations

import numpy as np
import pytest
from tests.support.toy_subject import toy_subject

from affectlab.steering.stimuli import Stimuli
from affectlab.steering.subject import Subject
from affectlab.steering.vectors import EmotionVectors, extract

EMOTIONS = ("anger", "fear", "joy")
WORDS = ("…", *EMOTIONS, "neutral", *(f"{emotion}{number}" for emotion in EMOTIONS for number in range(6)))
WIDTH = 8


@pytest.fixture
def subject() -> Subject:
    """A toy model in which number e of the stream raises the label of emotion e, and text words lie near their emotion.

    The head reads stream numbers 0, 1 and 2 for the three labels and 3 for neutral, times 2; all other words read 0.
    """
    embeddings = np.zeros((len(WORDS), WIDTH))
    head = np.zeros((len(WORDS), WIDTH))
    draw = np.random.default_rng(7)
    for number in range(4):
        head[1 + number, number] = 2
    for place, word in enumerate(WORDS[5:], 5):
        embeddings[place] = 0.1 * draw.standard_normal(WIDTH)
        embeddings[place, EMOTIONS.index(word[:-1])] += 1
    embeddings[0, 7] = 1
    return toy_subject(WORDS, embeddings, head)


@pytest.fixture
def stimuli() -> Stimuli:
    texts = [(f"It was {emotion}{number}.", emotion, f"g{number}") for emotion in EMOTIONS for number in range(6)]
    words, labels, groups = zip(*texts, strict=True)
    return Stimuli(words, labels, groups, {}, "toy")


@pytest.fixture
def vectors(subject: Subject, stimuli: Stimuli) -> EmotionVectors:
    return extract(subject, stimuli)
