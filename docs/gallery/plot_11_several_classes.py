"""
Three classes, and a rule for one of them
=========================================

Of several classes each has a model against all others, with a certificate of its own. A rule speaks
of the class that it names.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.metrics import ConfusionMatrixDisplay
from sklearn.model_selection import train_test_split

from hipad import HIPADClassifier

wine = load_wine(as_frame=True)
cultivar = wine.target.map({0: "Barolo", 1: "Grignolino", 2: "Barbera"})
X_train, X_test, y_train, y_test = train_test_split(
    wine.data, cultivar, train_size=15, stratify=cultivar, random_state=2
)
rules = "proline >= 900 => Barolo\nflavanoids <= 1 => Barbera"
figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
for ax, (name, text) in zip(
    axes, {"without rules": None, "with rules": rules}.items(), strict=True
):
    clf = HIPADClassifier(text, lambda2=1.0).fit(X_train, y_train)
    ConfusionMatrixDisplay.from_estimator(clf, X_test, y_test, ax=ax, colorbar=False)
    ax.set_title(f"{name}: {clf.score(X_test, y_test):.1%} of {len(y_test)} right")
plt.show()

# %%
# Which features speak for which cultivar, and the certificate of each model.

for label, model in clf.class_models_.items():
    kept = [wine.data.columns[j] for j in model.support_]
    print(f"{label}: {', '.join(kept)}; {model.certificate_.status}")
