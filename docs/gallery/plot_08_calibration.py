"""
Are the risks right?
====================

`predict_proba` is learnt from held-out scores, at the true share of the classes. scikit-learn's own
display shows whether risks come true.
"""

import matplotlib.pyplot as plt
from sklearn.calibration import CalibrationDisplay
from sklearn.model_selection import train_test_split

from hipad import HIPADClassifier, load_sample

sample = load_sample("pima")
X_train, X_test, y_train, y_test = train_test_split(
    sample.frame(), sample.y, train_size=120, stratify=sample.y, random_state=0
)
figure, ax = plt.subplots(figsize=(5, 5), layout="constrained")
for name, rules in (("without rules", None), ("with rules", sample.rules)):
    clf = HIPADClassifier(rules, blocks=sample.blocks, lambda2=1.0).fit(X_train, y_train)
    CalibrationDisplay.from_estimator(
        clf, X_test, y_test, pos_label="diabetic", n_bins=8, strategy="quantile", name=name, ax=ax
    ) if clf.classes_[1] == "diabetic" else CalibrationDisplay.from_predictions(
        y_test,
        clf.predict_proba(X_test)[:, 0],
        pos_label="diabetic",
        n_bins=8,
        strategy="quantile",
        name=name,
        ax=ax,
    )
plt.show()
