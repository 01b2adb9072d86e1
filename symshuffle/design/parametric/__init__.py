"""Optima as formulas in ``lam``: programs with polynomial coefficients, signs, and the walk from basis to basis."""
