"""Active sets: from a near-optimal guess to the optimum itself, at rounding level."""
