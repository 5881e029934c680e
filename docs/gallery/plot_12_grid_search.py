"""
A grid search over a rule
=========================

Rules are a parameter like any other, so scikit-learn's tools work on them: where should a threshold
lie, and how many patients should the rule count for?
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import GridSearchCV

from hipad import HIPADClassifier, load_sample

sample = load_sample("pima")
thresholds, worths = (100, 120, 140, 160, 180), (2, 5, 20, 60)
grid = [f"Glucose >= {t} => diabetic worth {w} patients" for w in worths for t in thresholds]
search = GridSearchCV(
    HIPADClassifier(lambda1=0.05, lambda2=1.0), {"rules": grid}, cv=4, scoring="balanced_accuracy"
)
search.fit(sample.frame()[:80], sample.y[:80])

# %%
# The differences are smaller than their standard error over the folds, as they often are: a grid
# search on 80 patients chooses by chance. A learnt trust (`rule_trust="auto"`) does not choose.

scores = search.cv_results_["mean_test_score"].reshape(len(worths), len(thresholds))
figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
picture = ax.imshow(scores, cmap="cividis", origin="lower", aspect="auto")
for (i, j), score in np.ndenumerate(scores):
    shade = "black" if score > scores.mean() else "white"
    ax.text(j, i, f"{100 * score:.1f}", ha="center", va="center", color=shade)
ax.set(xticks=range(len(thresholds)), yticks=range(len(worths)))
ax.set_xticklabels(thresholds)
ax.set_yticklabels(worths)
ax.set(xlabel="threshold of Glucose, mg/dl", ylabel="patients that the rule counts for")
figure.colorbar(picture, label="balanced accuracy")
print(f"standard error: {search.cv_results_['std_test_score'].mean() / 2:.1%}")
plt.show()
