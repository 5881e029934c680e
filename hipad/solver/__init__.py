"""Solvers for the elastic-net SVM with rules."""
