"""Measurements: speed as ratios in one run, accuracy over many draws, rivals beside ours."""
