from __future__ import annotations

import numpy as np
import pytest

from affectlab.audits.folds import grouped_folds
from affectlab.audits.thoughts import at_random, catch, threshold_for
from affectlab.benchmarks.decisions.reasoning import Thought
from affectlab.benchmarks.decisions.states import state_of
from affectlab.errors import UserError

ANGER = state_of("anger@1.0")


def thoughts(items: int = 40, telling: bool = True, seed: int = 0) -> list[Thought]:
    """Three thoughts an item; where a decision moved, telling thoughts say so half of the time."""
    rng = np.random.default_rng(seed)
    found = []
    for item in range(items):
        for place in range(3):
            moved = bool(rng.random() < 0.4)
            word = "furious" if telling and moved and rng.random() < 0.7 else "calm"
            text = f"I feel {word} about it and item{item} {' '.join(rng.choice(['so', 'then', 'but'], 5))}"
            found.append(Thought(f"i{item}", ANGER, text, 10, 1, 1, 1.0 if moved else 0.0, repeat=place))
    return found


def test_telling_thoughts_are_caught_at_the_precision_asked_for() -> None:
    found = catch(thoughts(), precision=0.9)
    assert found.mean_auc is not None
    assert found.mean_auc > 0.75
    assert found.flagged.sum() > 15
    assert found.hit_rate is not None
    assert found.hit_rate > 0.85
    assert not np.isnan(found.chance).any()


def test_thoughts_that_tell_nothing_are_not_caught_though_items_return() -> None:
    """Every item's name is in its thoughts, and an item moves always or never: a plain split would know it again."""
    rng = np.random.default_rng(1)
    kinds = rng.random(40) < 0.4
    rows = [
        Thought(one.item, ANGER, one.text, 10, 1, 1, float(kinds[int(one.item[1:])]))
        for one in thoughts(telling=False, seed=2)
    ]
    found = catch(rows, precision=0.9)
    assert found.mean_auc is not None
    assert 0.25 < found.mean_auc < 0.75


def test_a_threshold_by_hand() -> None:
    chance = np.array([0.9, 0.8, 0.8, 0.7, 0.2])
    moved = np.array([True, True, False, True, False])
    # At .9: 1 of 1; at .8: 2 of 3; at .7: 3 of 4; at .2: 3 of 5.
    assert threshold_for(chance, moved, 1.0) == 0.9
    assert threshold_for(chance, moved, 0.75) == 0.7
    assert threshold_for(chance, moved, 0.6) == 0.2
    assert threshold_for(chance, ~moved, 0.9) is None


def test_the_random_audit_is_as_large() -> None:
    flagged = np.array([True, False, True, False, False, False])
    assert at_random(flagged, 3).sum() == 2
    assert (at_random(flagged, 3) == at_random(flagged, 3)).all()


def test_what_cannot_be_audited_is_refused() -> None:
    with pytest.raises(UserError, match="needs 10 items"):
        catch(thoughts(items=5))
    still = [Thought(one.item, ANGER, one.text, 10, 1, 1, 0.0) for one in thoughts()]
    with pytest.raises(UserError, match="0 of them before a moved decision"):
        catch(still)
    alone = [Thought(one.item, ANGER, one.text, 10, 1, 1, float(one.item == "i7")) for one in thoughts(20) * 2]
    with pytest.raises(UserError, match="6 moved decisions stand on 1 items"):
        catch(alone)
    with pytest.raises(UserError, match="precision"):
        catch(thoughts(), precision=0.0)


def test_no_threshold_comes_from_texts_that_were_learned_from() -> None:
    """Moves on two items, each with words of its own. Without one of them only the other has moves, and the inner fold
    that tests it learns from none: there is no honest probability to choose a threshold by, though the model knows the
    texts it was fitted to by heart."""
    rows = [
        Thought(one.item, ANGER, f"{one.item} says {one.item}", 10, 1, 1, float(one.item in {"i3", "i9"}))
        for one in thoughts(20)
    ]
    splits = grouped_folds(np.array([bool(one.move) for one in rows]), np.array([one.item for one in rows]), 5, 0)
    assert [sum(bool(rows[place].move) for place in test) for _, test in splits].count(3) == 2
    found = catch(rows, precision=0.5)
    assert [threshold for fold, threshold in enumerate(found.thresholds) if found.auc[fold] is not None] == [None, None]


@pytest.mark.parametrize("said", ["I.", "", "…"])
def test_thoughts_without_words_are_refused_in_words(said: str) -> None:
    """The tokens of the bag are words of two letters and more."""
    rows = [Thought(one.item, ANGER, said, 1, 0, 0, one.move) for one in thoughts()]
    with pytest.raises(UserError, match="0 of 120 thoughts hold a word"):
        catch(rows)
    # One item with words is not enough: without it a training fold has none.
    few = [Thought(one.item, ANGER, "furious" if one.item == "i7" else said, 1, 0, 0, one.move) for one in thoughts()]
    with pytest.raises(UserError, match="3 of 120 thoughts hold a word"):
        catch(few)
    # Words on two items are in every training fold, not in every inner one: no threshold, but no crash.
    some = [
        Thought(one.item, ANGER, "so" if one.item in {"i7", "i8"} else said, 1, 0, 0, one.move) for one in thoughts()
    ]
    assert len(catch(some).chance) == 120


def test_chinese_thoughts_are_told_by_their_characters() -> None:
    """Chinese sets no spaces: taken for words, whole clauses would never return."""
    rows = [
        Thought(one.item, ANGER, f"第{one.item}件事让我{'愤怒' if one.move else '平静'}得很", 10, 1, 1, one.move)
        for one in thoughts()
    ]
    assert catch(rows).mean_auc == 1.0


def test_items_of_one_story_stand_on_one_side() -> None:
    """Twenty stories of two items; every word of a story is its own, and a story moves always or never. Split by items,
    the other half of a story would give its move away."""
    rng = np.random.default_rng(5)
    kinds = rng.random(20) < 0.5
    rows = [
        Thought(one.item, ANGER, f"story{int(one.item[1:]) // 2} again", 2, 0, 0, float(kinds[int(one.item[1:]) // 2]))
        for one in thoughts()
    ]
    together = {f"i{n}": f"s{n // 2}" for n in range(40)}
    apart, whole = catch(rows).mean_auc, catch(rows, groups=together).mean_auc
    assert apart is not None
    assert whole is not None
    assert apart > 0.9
    assert whole < 0.75
    with pytest.raises(UserError, match="60 thoughts on 5 items"):
        catch(rows[:60], groups={f"i{n}": f"s{n // 4}" for n in range(40)})
