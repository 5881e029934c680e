"""Models as JSON files, and what is checked before one is believed."""
