"""Settings by cross-validation: the fits that try them, and the choice among them."""
