from __future__ import annotations

from dataclasses import replace

from affectlab.models.base import Request, Sampling
from affectlab.models.seeding import request_seed

BASE = Request("a", "joint", (), sampling=Sampling(temperature=0.7, seed=3))


def test_items_repeats_steps_variants_and_seeds_draw_apart() -> None:
    others = [
        BASE,
        replace(BASE, item="b"),
        replace(BASE, repeat=1),
        replace(BASE, step="other"),
        replace(BASE, variant="order=1"),
        replace(BASE, sampling=Sampling(temperature=0.7, seed=4)),
    ]
    assert len({request_seed(request) for request in others}) == len(others)


def test_conditions_share_their_random_numbers() -> None:
    assert request_seed(replace(BASE, condition="anger@1")) == request_seed(BASE)


def test_the_seed_is_the_same_in_every_process() -> None:
    # printf '3\x1fa\x1f\x1fjoint\x1f0' | sha256sum gives 770d4692…; the seed is its first four bytes, halved.
    assert request_seed(BASE) == 0x770D4692 >> 1
