"""What an expert adds to sixteen labelled patients: acute leukaemia, 12,625 gene probes.

The expert knows that the ABL1 probes are raised where the genes BCR and ABL are fused.
"""

from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import train_test_split

from hipad import HIPADClassifier
from hipad.datasets import load_sample

sample = load_sample("all-bcrabl")
X_train, X_test, y_train, y_test = train_test_split(
    sample.frame(), sample.y, train_size=16, stratify=sample.y, random_state=0
)


def balanced_accuracy(rules: str | None) -> float:
    """How often a model with these rules is right about patients it has not seen."""
    model = HIPADClassifier(rules, blocks=sample.blocks).fit(X_train, y_train)
    for record in model.rule_report_:
        print(record)
    return float(balanced_accuracy_score(y_test, model.predict(X_test)))


print(sample.rules)
print(f"without rules: {balanced_accuracy(None):.1%}")
print(f"with rules:    {balanced_accuracy(sample.rules):.1%}")
