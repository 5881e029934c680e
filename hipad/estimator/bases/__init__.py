"""What the classifiers are made of: their ways with scikit-learn, and a fitted model."""
