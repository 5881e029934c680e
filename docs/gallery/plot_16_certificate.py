"""
What is proved of a model
=========================

Stop a fit wherever you like: its certificate says how far, at most, it is from the optimum, and
which features are proved to be in or out already.
"""

import matplotlib.pyplot as plt

from hipad import HIPADClassifier, make_ksvm_s

data = make_ksvm_s("10k", seed=0)
found = []
for steps in (2, 4, 6, 8, 10, 12, 16):
    clf = HIPADClassifier(
        data.rules,
        blocks=data.blocks,
        lambda1=0.08,
        standardize=False,
        rule_trust=None,
        method="hipad",
    )
    run = clf.fit_iter(data.X_train, data.y_train)
    for step, _ in enumerate(run, 1):
        if step == steps:
            break
    run.stop()
    found.append((steps, run.to_end().finish().certificate_))

# %%
# Undecided features become proved ones long before the last digit is there.

steps, certificates = zip(*found, strict=True)
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
gaps = [max(c.gap, c.selection_gap, 1e-16) for c in certificates]
left.semilogy(steps, gaps, marker="o", color="#0072b2")
left.set(xlabel="step at which the fit was stopped", ylabel="at most above the optimum, relative")
right.plot(steps, [c.certain for c in certificates], marker="o", color="#008a64", label="proved in")
right.plot(
    steps, [c.undecided for c in certificates], marker="s", color="#d55e00", label="undecided"
)
right.set(xlabel="step at which the fit was stopped", ylabel="features of 10,000", yscale="symlog")
right.legend()
plt.show()

# %%
# The certificate at the end:

certificates[-1]
