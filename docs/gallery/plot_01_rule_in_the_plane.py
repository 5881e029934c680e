"""
A rule in the plane
===================

Ten labelled patients, two measurements, and a rule that the data do not show: what the rule does to
the line that divides the classes.
"""

import matplotlib.pyplot as plt
import numpy as np

from hipad import HIPADClassifier

rng = np.random.default_rng(3)
y = np.repeat(["well", "ill"], 5)
X = rng.normal(size=(10, 2)) + np.where(y == "ill", 0.8, -0.8)[:, None] * [1.0, 0.1]

# %%
# The expert knows that a high second value speaks for the illness, whatever the first one is. The
# ten patients can hardly tell.

rules = "x1 >= 1 => ill\nx1 <= -1 => well"
fitted = {
    "without rules": HIPADClassifier(lambda1=0.01).fit(X, y),
    "with rules": HIPADClassifier(rules, lambda1=0.01, rule_weight=10).fit(X, y),
}

# %%
# Each half plane of a rule is a constraint on the line, not a row of data: the line turns until it
# holds for the typical patient whom the rule covers.

figure, axes = plt.subplots(1, 2, figsize=(9, 4), sharey=True, layout="constrained")
grid = np.stack(np.meshgrid(np.linspace(-3, 3, 121), np.linspace(-3, 3, 121)), axis=-1)
for ax, (name, clf) in zip(axes, fitted.items(), strict=True):
    scores = clf.decision_function(grid.reshape(-1, 2)).reshape(121, 121)
    ill = scores if clf.classes_[1] == "ill" else -scores
    ax.contourf(
        grid[..., 0], grid[..., 1], ill, [-99, 0, 99], colors=["#0072b2", "#d55e00"], alpha=0.2
    )
    for label, colour, marker in (("well", "#0072b2", "o"), ("ill", "#d55e00", "s")):
        own = X[y == label]
        ax.scatter(own[:, 0], own[:, 1], c=colour, marker=marker, label=label)
    if name == "with rules":
        ax.axhspan(1, 3, hatch="//", facecolor="none", edgecolor="#d55e00", linewidth=0, alpha=0.5)
        ax.axhspan(
            -3, -1, hatch="\\\\", facecolor="none", edgecolor="#0072b2", linewidth=0, alpha=0.5
        )
    ax.set(title=name, xlabel="x0", xlim=(-3, 3), ylim=(-3, 3))
axes[0].set_ylabel("x1")
axes[0].legend()
plt.show()
