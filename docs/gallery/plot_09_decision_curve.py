"""
Is it of use? The decision curve
================================

A model is of use at a threshold where its net benefit is above that of treating everybody and of
treating nobody.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split

from hipad import HIPADClassifier, load_sample
from hipad.evaluation.curves import cutoff_by_cost, decision_curve, training_rows
from hipad.evaluation.metrics import ScoredRows

sample = load_sample("pima")
y = np.where(sample.y == "diabetic", 1, 0)
X_train, X_test, y_train, y_test = train_test_split(
    sample.frame(), y, train_size=120, stratify=y, random_state=0
)
clf = HIPADClassifier("Glucose >= 140 => positive", lambda2=1.0).fit(X_train, y_train)

# %%
# The cut-off is chosen on out-of-fold risks of training rows, never on the rows that judge it: here
# a missed patient costs as much as four false alarms.

cutoff = cutoff_by_cost(training_rows(clf), 4.0)
print(cutoff.words("diabetic"))

rows = ScoredRows(y_test == 1, clf.decision_function(X_test), clf.predict_proba(X_test)[:, 1])
curve = decision_curve(rows, np.linspace(0.02, 0.7, 60))

figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.plot(curve.thresholds, curve.model, color="#008a64", label="model")
ax.fill_between(curve.thresholds, curve.low, curve.high, color="#008a64", alpha=0.15, linewidth=0)
ax.plot(curve.thresholds, curve.treat_all, color="#5d6b73", linestyle="--", label="treat everybody")
ax.axhline(0, color="black", linewidth=0.8, label="treat nobody")
ax.axvline(cutoff.threshold, color="#d55e00", linestyle=":", label="cut-off of that cost")
ax.set(xlabel="risk from which on one treats", ylabel="net benefit", ylim=(-0.1, 0.4))
ax.legend()
plt.show()
