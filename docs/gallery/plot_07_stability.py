"""
Which features hold
===================

Refits to random halves of the patients: a feature that is in the model by chance is often out.
"""

import matplotlib.pyplot as plt

from hipad import HIPADClassifier, load_sample
from hipad.display import StabilityDisplay

sample = load_sample("all-bcrabl")
clf = HIPADClassifier(sample.rules, blocks=sample.blocks, lambda2=10.0)
clf.fit(sample.frame()[:60], sample.y[:60])
display = StabilityDisplay.from_estimator(clf, n_refits=50)

# %%
# The share beside the axis is told by decoys: permuted copies of all features, which carry nothing
# of the class. As many of them as are selected, as many features are selected by chance.
#
# The same refits say how far the risk of each patient moves.

display.plot(kind="risks")
plt.show()
