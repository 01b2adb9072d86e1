"""Decompositions of a channel at a pair of inputs, their reduction pairs, and the law of G."""
