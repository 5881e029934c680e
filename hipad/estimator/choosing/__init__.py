"""Automatic choices: lambda1, lambda2 and the intercept, by what held-out patients say."""
