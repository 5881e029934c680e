"""The solvers: a `Problem` in, a certified `Solution` out; of rules they know (B, d, sign)."""

from hipad.solver.admm.admm import AdmmSettings
from hipad.solver.certificate import Certificate, Status
from hipad.solver.driver import Hipad, Progress, Settings, Solution
from hipad.solver.emptymodel import lambda1_max
from hipad.solver.prices import FeaturePrices
from hipad.solver.problem import Problem, RuleBlock

__all__ = [
    "AdmmSettings",
    "Certificate",
    "FeaturePrices",
    "Hipad",
    "Problem",
    "Progress",
    "RuleBlock",
    "Settings",
    "Solution",
    "Status",
    "lambda1_max",
]
