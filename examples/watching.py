"""A fit that is watched: every step is a record, and the loop may be left and entered again."""

from itertools import islice

from hipad import HIPADClassifier
from hipad.datasets import make_ksvm_s

data = make_ksvm_s("10k", seed=0)
model = HIPADClassifier(data.rules, blocks=data.blocks, lambda1=0.08, standardize=False)
fit = model.fit_iter(data.X_train, data.y_train)

for step in islice(fit, 3):
    print(f"phase {step.phase}, step {step.iteration}: {step.support_size:,} features")
print("paused; and on")
for step in fit:
    print(f"phase {step.phase}, step {step.iteration}: {step.support_size:,} features")

fit.finish()
print(f"{model.score(data.X_test, data.y_test):.1%} right with {model.support_.size} features")
print(model.certificate_)
