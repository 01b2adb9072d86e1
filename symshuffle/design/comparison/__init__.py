"""Mechanisms side by side: each at its best parameters, at one common budget."""
