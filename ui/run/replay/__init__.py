"""Stories of a run, played by the browser itself."""
