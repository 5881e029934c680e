"""What stands around every page: the steps of the way, words explained, the way back."""
