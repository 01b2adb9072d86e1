"""Engines: they see the law of G and nothing else, and each returns a bracket around its divergence."""
