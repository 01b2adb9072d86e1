"""Checks of *Shuffling-Aware Optimization for Private Vector Mean Estimation*."""
