"""
How lambda1 is chosen
=====================

`lambda1="auto"` follows a path of values for three values of lambda2, and judges every pair by rows
that were held out.
"""

import matplotlib.pyplot as plt

from hipad import HIPADClassifier, load_sample
from hipad.display import PathDisplay

sample = load_sample("all-bcrabl")
clf = HIPADClassifier().fit(sample.X[:40], sample.y[:40])
PathDisplay.from_estimator(clf)
plt.show()

# %%
# The same points by the number of features. The square is what `lambda1="sparse"` would take: the
# fewest features within one standard error of the least loss.

PathDisplay.from_estimator(clf, x="features")
plt.show()

# %%
# All that was tried, as a table.

clf.path_
