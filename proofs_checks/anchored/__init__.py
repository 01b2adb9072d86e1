"""Checks of *Anchored Likelihood-Ratio Geometry of Anonymous Shuffle Experiments*."""
