"""Engines that integrate the transform of a law of atoms along a line, in doubles and in balls."""
