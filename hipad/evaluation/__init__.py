"""How good is a model: calibration, the choice of lambda1, metrics with intervals, differences."""
