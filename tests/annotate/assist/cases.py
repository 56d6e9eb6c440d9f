"""Cases for the tests: single ones, audited slots, and a study."""

from __future__ import annotations

from typing import Any

from affectlab.annotate.assist.routing import Case, Votes


def case(
    a: Any = "x", b: Any = "x", votes: Any = None, human: Any = None, *, audited: bool = False, **rest: Any
) -> Case:
    known = {"item": "i", "slot": "s", "cluster": rest.get("item", "i"), "strata": {}, **rest}
    return Case(a=a, b=b, audited=audited, votes=None if votes is None else Votes(*votes), human=human, **known)


def study() -> list[Case]:
    """100 slots of 100 items.

    60 agreed: 20 of them audited, people changed 2. 40 differ: 10 audited, of which 6 accepted (people changed 3), 2
    turn with the order to the first place, 2 to the second; 30 unseen: 20 accepted, 6 turn to the first, 4 neither.
    """
    plan: list[tuple[int, dict[str, Any]]] = [
        (40, {}),
        (18, {"audited": True, "human": "x"}),
        (2, {"audited": True, "human": "y"}),
        (3, {"b": "y", "votes": (1, 2), "audited": True, "human": "x"}),
        (3, {"b": "y", "votes": (1, 2), "audited": True, "human": "z"}),
        (2, {"b": "y", "votes": (1, 1), "audited": True, "human": "x"}),
        (2, {"b": "y", "votes": (2, 2), "audited": True, "human": "y"}),
        (20, {"b": "y", "votes": (2, 1)}),
        (6, {"b": "y", "votes": (1, 1)}),
        (4, {"b": "y", "votes": (0, 0)}),
    ]
    made = [known for count, known in plan for _ in range(count)]
    return [case(item=f"i{n}", **known) for n, known in enumerate(made)]


def slots(name: str, unseen: int, audited: int, wrong: int, **rest: Any) -> list[Case]:
    """Labels both models agree on in one slot, and an audit in which people changed some."""
    seen = [case(item=f"{n}", slot=name, audited=True, human="z" if n < wrong else "x", **rest) for n in range(audited)]
    return [*seen, *(case(item=f"{name}{n}", slot=name) for n in range(unseen))]
