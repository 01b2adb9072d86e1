"""Rényi divergences of shuffled messages, from profiles. Questions of (eps, delta) are next door."""
