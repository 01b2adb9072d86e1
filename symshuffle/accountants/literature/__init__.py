"""Bounds of the literature to compare with, sound and unsound. No answer rests on them."""
