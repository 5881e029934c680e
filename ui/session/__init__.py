"""A session as a file: saved, opened again, its models fitted again."""
