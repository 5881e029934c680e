"""
Whom to label next
==================

Labels cost time. The list takes both predicted classes in turn, spread over all decision values,
and never the same kind of patient twice.
"""

import matplotlib.pyplot as plt
import numpy as np

from hipad import HIPADClassifier, load_sample
from hipad.evaluation.active_learning import label_next

sample = load_sample("all-bcrabl")
rng = np.random.default_rng(0)
order = rng.permutation(len(sample.y))
labelled, others = order[:20], order[20:]
clf = HIPADClassifier(sample.rules, blocks=sample.blocks, lambda2=10.0)
clf.fit(sample.X[labelled], sample.y[labelled])
chosen = label_next(clf, sample.X[others], count=8)

# %%
# Decision values of the patients without a label; the numbers are the order in which to label.

scores = clf.decision_function(sample.X[others])
figure, ax = plt.subplots(figsize=(8, 2.6), layout="constrained")
ax.scatter(scores, np.zeros(scores.size), color="#b8c1c6", label="no label yet")
for place, one in enumerate(chosen, 1):
    ax.scatter(one.decision_value, 0, color="#d55e00", zorder=3)
    ax.annotate(
        str(place),
        (one.decision_value, 0),
        (0, 10 if place % 2 else -20),
        textcoords="offset points",
        ha="center",
    )
ax.axvline(0, color="black", linestyle=":")
ax.set(
    yticks=[],
    ylim=(-1, 1),
    xlabel=f"decision value: {clf.classes_[0]} to the left, {clf.classes_[1]} to the right",
)
ax.legend(loc="lower left")
plt.show()

for place, one in enumerate(chosen, 1):
    print(f"{place}. row {one.row}: {one.reason}")
