"""Parts of the Run page."""
