"""
For whom the model cannot answer
================================

Conformal sets at 90 % coverage of each class: where both classes stay possible, or none is, the
honest answer is that the model cannot say.
"""

import matplotlib.pyplot as plt
import numpy as np

from hipad import HIPADClassifier, load_sample
from hipad.evaluation.cross_validation import cross_validate
from hipad.evaluation.new_rows import ConformalSets

sample = load_sample("pima")
X, y = sample.frame(), np.where(sample.y == "diabetic", 1, 0)
clf = HIPADClassifier(lambda1=0.05, lambda2=1.0)
scores = cross_validate(clf, X[:300], y[:300]).scores
sets = ConformalSets.fit(scores, y[:300] == 1)

# %%
# Judged by the patients that had no part in it.

fresh = clf.fit(X[:300], y[:300]).decision_function(X[300:])
possible = sets.sets(fresh, 0.9)
truth = y[300:]
covered = possible[np.arange(truth.size), truth]
for label, name in enumerate(("healthy", "diabetic")):
    print(f"the class is in the set of {covered[truth == label].mean():.1%} of the {name}")

kinds = {
    "healthy": possible[:, 0] & ~possible[:, 1],
    "cannot say": possible[:, 0] == possible[:, 1],
    "diabetic": ~possible[:, 0] & possible[:, 1],
}
figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
bins = np.linspace(fresh.min(), fresh.max(), 40)
colours = ["#0072b2", "#b8c1c6", "#d55e00"]
ax.hist([fresh[own] for own in kinds.values()], bins, stacked=True, color=colours)
ax.legend([f"{name}: {own.mean():.0%}" for name, own in kinds.items()])
ax.set(xlabel="decision value", ylabel="patients")
plt.show()
