"""
A wrong rule is found out
=========================

Trust in rules is learnt from labelled rows. Here one of two rules is turned round.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import train_test_split

from hipad import HIPADClassifier, load_sample
from hipad.display import RuleReportDisplay

sample = load_sample("pima")
X_train, X_test, y_train, y_test = train_test_split(
    sample.frame(), sample.y, train_size=60, stratify=sample.y, random_state=1
)
right = "glucose: Glucose >= 140 => diabetic\nweight: BMI <= 25 => healthy"
wrong = "glucose: Glucose >= 140 => healthy\nweight: BMI <= 25 => healthy"

# %%
# Rules taken as certain do what they say, wrong or not. Rules whose trust is learnt are dropped
# where held-out rows speak against them.

figures = {}
for name, rules in (("no rules", None), ("right", right), ("one wrong", wrong)):
    for trust, settings in (("trust learnt", {}), ("taken as certain", {"rule_weight": 600})):
        clf = HIPADClassifier(rules, lambda2=1.0, **(settings if rules else {})).fit(
            X_train, y_train
        )
        figures[name, trust] = balanced_accuracy_score(y_test, clf.predict(X_test))

figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
at, names = np.arange(3), ("no rules", "right", "one wrong")
for k, (trust, colour) in enumerate((("trust learnt", "#008a64"), ("taken as certain", "#5d6b73"))):
    heights = [figures[name, trust] for name in names]
    bars = ax.bar(at + 0.4 * k - 0.2, heights, 0.38, color=colour, label=trust)
    ax.bar_label(bars, [f"{100 * height:.0f} %" for height in heights])
ax.set(xticks=at, ylim=(0, 1), ylabel="balanced accuracy on 708 unseen patients")
ax.set_xticklabels(names)
ax.legend(loc="upper center", ncols=2)
plt.show()

# %%
# The report says which rule it is.

clf = HIPADClassifier(wrong, lambda2=1.0).fit(X_train, y_train)
RuleReportDisplay.from_estimator(clf)
plt.show()
