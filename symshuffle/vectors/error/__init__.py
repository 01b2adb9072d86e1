"""Errors of randomizers of vectors, exact and optimal. No accounting."""
