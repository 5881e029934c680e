"""
Sixteen patients, 12,625 probes, two rules
==========================================

Acute leukaemia: is the gene fusion BCR/ABL there? An expert knows that the probes of ABL1 are
raised where it is.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedShuffleSplit

from hipad import HIPADClassifier, load_sample
from hipad.display import RuleReportDisplay

sample = load_sample("all-bcrabl")
print(sample.rules)

# %%
# Three draws of sixteen labelled patients, judged by the other 63.

draws = StratifiedShuffleSplit(n_splits=3, train_size=16, random_state=0)
figures = {"without rules": [], "with rules": []}
for train, test in draws.split(sample.X, sample.y):
    for name, rules in (("without rules", None), ("with rules", sample.rules)):
        clf = HIPADClassifier(rules, blocks=sample.blocks, lambda2=10.0).fit(
            sample.X[train], sample.y[train]
        )
        right = balanced_accuracy_score(sample.y[test], clf.predict(sample.X[test]))
        figures[name].append(right)

# %%
# Each line is one draw.

figure, ax = plt.subplots(figsize=(5, 4), layout="constrained")
ax.plot([0, 1], [figures["without rules"], figures["with rules"]], marker="o", color="#5d6b73")
means = [np.mean(values) for values in figures.values()]
ax.plot([0, 1], means, marker="D", linewidth=3, color="#008a64", label="mean")
ax.set(xticks=[0, 1], xlim=(-0.3, 1.3), ylabel="balanced accuracy on unseen patients")
ax.set_xticklabels(figures)
ax.legend()
print({name: f"{value:.1%}" for name, value in zip(figures, means, strict=True)})

# %%
# What became of each rule in the last draw: who it covers, how far the labelled patients bear it
# out, and whether the model would be another one without it.

RuleReportDisplay.from_estimator(clf)
clf.rule_report_
