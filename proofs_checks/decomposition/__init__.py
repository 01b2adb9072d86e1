"""Checks of *Decomposition-Based Optimal Bounds for Privacy Amplification via Shuffling*."""
