"""The Results page: how good a model is on rows it has not seen, and with which cut-off."""
