"""Data matrices seen through the few operations that the solvers ask of them."""

from hipad.arrays import FloatArray
from hipad.designs.base import Design
from hipad.designs.dense import DenseDesign
from hipad.designs.factory import make_design
from hipad.designs.scaling import column_moments, standardisation
from hipad.designs.sparse import SparseDesign

__all__ = [
    "DenseDesign",
    "Design",
    "FloatArray",
    "SparseDesign",
    "column_moments",
    "make_design",
    "standardisation",
]
