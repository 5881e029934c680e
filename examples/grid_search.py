"""A grid search over rules: where should a threshold lie, and how much should it count?

Rules are a parameter like any other, so scikit-learn's tools work on them.
"""

from sklearn.model_selection import GridSearchCV, train_test_split

from hipad import HIPADClassifier
from hipad.datasets import load_sample

sample = load_sample("pima")
X_train, X_test, y_train, y_test = train_test_split(
    sample.frame(), sample.y, train_size=60, stratify=sample.y, random_state=0
)
rules = [
    f"Glucose >= {threshold} => diabetic worth {worth} patients"
    for threshold in (110, 126, 150)
    for worth in (5, 20)
]
search = GridSearchCV(
    HIPADClassifier(lambda1=0.05), {"rules": [None, *rules]}, cv=5, scoring="balanced_accuracy"
)
search.fit(X_train, y_train)

for rule, score in zip(
    search.cv_results_["param_rules"], search.cv_results_["mean_test_score"], strict=True
):
    print(f"{score:.3f}  {rule or 'no rule'}")
print(f"best: {search.best_params_['rules']}; on new patients {search.score(X_test, y_test):.3f}")
