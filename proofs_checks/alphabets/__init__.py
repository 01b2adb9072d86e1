"""Checks of *Growing Alphabets in Canonical Shuffle Experiments*."""
