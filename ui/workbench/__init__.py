"""Parts of the Workbench page."""
