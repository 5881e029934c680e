"""
Why this patient?
=================

The model is linear, so its answer divides exactly into what each feature adds, and the smallest
change that would turn the answer is known.
"""

import matplotlib.pyplot as plt
import numpy as np

from hipad import HIPADClassifier, load_sample
from hipad.evaluation.explanations import explain_row, smallest_change

sample = load_sample("pima")
y = np.where(
    sample.y == "diabetic", "p diabetic", "healthy"
)  # the second class is the positive one
X, names = sample.X[:200], sample.feature_names
clf = HIPADClassifier(lambda1=0.02, lambda2=1.0).fit(X, y[:200])

patient = sample.X[210]
told = explain_row(clf, patient, X)
print(f"risk {clf.predict_proba(patient[None])[0, 1]:.0%}, usual score {told.base:+.2f}")

# %%
# Bars add up to the score to the last digit.

parts = told.contributions
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
amounts = [part.amount for part in parts]
ax.barh(range(len(parts)), amounts, color=["#d55e00" if a > 0 else "#0072b2" for a in amounts])
ax.set_yticks(
    range(len(parts)), [f"{names[p.column]} {p.value:g} (usually {p.usual:.3g})" for p in parts]
)
ax.invert_yaxis()
ax.set(xlabel="what it adds to the score", title=f"score {told.score:+.2f}")
plt.show()

# %%
# What would have to be otherwise for the other answer.

glucose = names.index("Glucose")
change = smallest_change(clf, patient, [glucose, names.index("BMI")], X)
for column, now, then in change.changes:
    print(f"{names[column]}: {now:g} -> {then:.1f}")
