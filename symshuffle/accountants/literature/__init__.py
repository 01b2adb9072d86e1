"""Bounds of the literature to compare with. No answer rests on them."""
