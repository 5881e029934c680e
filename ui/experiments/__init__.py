"""The parts of the Experiments page."""
