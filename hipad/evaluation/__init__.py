"""How good a model is, and for which class it speaks: metrics, judgements, differences."""
