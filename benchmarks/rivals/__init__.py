"""The classifiers that ours are measured against, each in a file, behind one signature.

rival.fit(X, y) -> LinearModel        which predicts, and knows the elastic-net objective
"""

from benchmarks.rivals.base import LinearModel, Rival
from benchmarks.rivals.liblinear import Liblinear
from benchmarks.rivals.libsvm import Libsvm
from benchmarks.rivals.ours import UNWEIGHTED, Hipad, TunedHipad
from benchmarks.rivals.sgd import Sgd

__all__ = [
    "UNWEIGHTED",
    "Hipad",
    "Liblinear",
    "Libsvm",
    "LinearModel",
    "Rival",
    "Sgd",
    "TunedHipad",
]
