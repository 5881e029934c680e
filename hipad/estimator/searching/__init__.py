"""The whole grid of settings by cross-validation: `HIPADClassifierCV`."""
