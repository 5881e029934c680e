"""What is known of single features: as prices for the solver, and as a report on the model."""
