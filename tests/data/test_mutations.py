from __future__ import annotations

from tests.data.mutations import DAMAGES, mutations

SEED = b"a,b,c\n" + b"".join(b"%d,%d,x\n" % (j, j * j) for j in range(100))


def test_the_same_seed_gives_the_same_damage_and_another_seed_another():
    assert list(mutations(SEED, 50, seed=1)) == list(mutations(SEED, 50, seed=1))
    assert list(mutations(SEED, 50, seed=1)) != list(mutations(SEED, 50, seed=2))


def test_nearly_every_copy_is_damaged_and_all_stay_small():
    copies = list(mutations(SEED, 500, seed=3))
    assert len(copies) == 500
    assert sum(copy != SEED for copy in copies) > 480
    assert max(map(len, copies)) < 100 * len(SEED)
    assert len(DAMAGES) == 8
