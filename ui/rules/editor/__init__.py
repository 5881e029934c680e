"""The editor of rules that helps while one types: a component of its own in the page."""
