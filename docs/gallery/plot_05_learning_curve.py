"""
What rules are worth in labelled patients
=========================================

Labelled patients are dear, and a rule is cheap. A rule is worth the patients that it spares.
"""

import matplotlib.pyplot as plt

from hipad import HIPADClassifier, load_sample
from hipad.display import LearningCurveDisplay

sample = load_sample("pima")
clf = HIPADClassifier(sample.rules, blocks=sample.blocks, lambda1=0.05, lambda2=1.0)
display = LearningCurveDisplay.from_estimator(
    clf, sample.frame(), sample.y, sizes=(4, 8, 16), draws=5
)
plt.show()

# %%
# The bands are 95 % intervals of the mean over five draws. With so few draws they are wide, and
# the sentence above the picture says what can be said.

print(display.worth)
