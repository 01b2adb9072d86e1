"""Engines that sum over counts of atoms: exact, in windows, and along lines."""
