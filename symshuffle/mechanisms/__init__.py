"""Local randomizers, each written once, symbolically in ``lam = exp(eps0)``."""
