"""
Two phases, step by step
========================

`method="hipad"` runs the paper's algorithm: ADMM finds the features, then an interior point finds
their weights to the last digit.
"""

import matplotlib.pyplot as plt

from hipad import HIPADClassifier, make_ksvm_s
from hipad.display import ConvergenceDisplay

data = make_ksvm_s("10k", seed=0)
settings = {"blocks": data.blocks, "lambda1": 0.08, "standardize": False, "rule_trust": None}
clf = HIPADClassifier(data.rules, method="hipad", **settings).fit(data.X_train, data.y_train)
ConvergenceDisplay.from_estimator(clf)
print(clf.solver_)

# %%
# Without a second phase ADMM needs more steps for fewer digits.

admm = HIPADClassifier(data.rules, method="admm", **settings).fit(data.X_train, data.y_train)
ConvergenceDisplay.from_estimator(admm)
print(admm.solver_)
plt.show()

# %%
# The certificate bounds what any other weights could gain.

clf.certificate_
