"""
The paper's synthetic data
==========================

ksvm-s: 200 training rows, 10,000 features, 200 of which matter. Two of the four blocks hardly
differ between the classes in the training rows; the rules speak of them.
"""

import matplotlib.pyplot as plt
import numpy as np

from hipad import HIPADClassifier, make_ksvm_s

data = make_ksvm_s("10k", seed=0)
print(data.rules)

# %%
# The paper's settings, with rules and without.

settings = {"lambda1": 0.08, "standardize": False}
without = HIPADClassifier(**settings).fit(data.X_train, data.y_train)
clf = HIPADClassifier(data.rules, blocks=data.blocks, **settings)
clf.fit(data.X_train, data.y_train)

figure, axes = plt.subplots(2, 1, figsize=(8, 4.5), sharex=True, layout="constrained")
for ax, (name, model) in zip(
    axes, {"without rules": without, "with rules": clf}.items(), strict=True
):
    ax.vlines(np.arange(240), 0, model.coef_[0, :240], color="#0072b2", linewidth=1)
    for block, columns in data.blocks.items():
        ax.axvspan(
            columns[0] - 0.5,
            columns[-1] + 0.5,
            alpha=0.1,
            color="#d55e00" if block in ("K1", "K2") else "#008a64",
        )
        ax.text(columns.mean(), ax.get_ylim()[1], block, ha="center", va="top")
    right = model.score(data.X_test, data.y_test)
    ax.set(ylabel="weight", title=f"{name}: {right:.1%} right with {model.support_.size} features")
axes[1].set_xlabel("feature (the first 240 of 10,000)")
plt.show()
