from hipad.experiments.reproduction import FewRows, early_support


def test_the_support_settles_before_the_admm_converges():
    found = early_support(FewRows(), 0)
    sizes = found["support_sizes"]
    assert found["settled"] < found["converged"] == len(sizes)
    assert sizes[found["settled"] :] == [sizes[-1]] * (len(sizes) - found["settled"])
    assert 1 <= found["paper"] <= found["converged"]
    assert 1 <= found["ours"] <= found["converged"]
