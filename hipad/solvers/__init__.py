"""The solvers: a `Problem` in, a certified `Solution` out; of rules they know (B, d, sign)."""

from hipad.solvers.admm import AdmmSettings
from hipad.solvers.certificate import Certificate, Status
from hipad.solvers.exact import lambda1_max
from hipad.solvers.hipad import Hipad
from hipad.solvers.problem import PenaltyFactors, Problem, RuleBlock
from hipad.solvers.solution import Progress, Settings, Solution

__all__ = [
    "AdmmSettings",
    "Certificate",
    "Hipad",
    "PenaltyFactors",
    "Problem",
    "Progress",
    "RuleBlock",
    "Settings",
    "Solution",
    "Status",
    "lambda1_max",
]
