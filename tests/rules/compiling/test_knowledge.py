import numpy as np

from hipad.rules.compiling.knowledge import FeatureKnowledge, compile_knowledge


def test_nothing_is_known_until_it_is_said() -> None:
    assert not FeatureKnowledge()
    assert FeatureKnowledge(certain=np.array([3]))


def test_rules_are_compiled_beside_it() -> None:
    known = compile_knowledge("x0 >= 1 => positive", n_features=2)
    assert len(known.rules) == 1
    assert not known.features
