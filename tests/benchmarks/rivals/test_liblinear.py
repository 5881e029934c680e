import pytest

from benchmarks.rivals.liblinear import Liblinear


@pytest.mark.parametrize("penalty", ["l1", "l2"])
def test_both_penalties_fit(parted, penalty):
    assert Liblinear(penalty=penalty).fit(*parted).accuracy(*parted) > 0.9


def test_l1_with_a_small_c_is_sparse(parted):
    few, all_of_them = (Liblinear(C=0.02, penalty=kind).fit(*parted) for kind in ("l1", "l2"))
    assert few.support_size < all_of_them.support_size == 5
