"""Checks of *Optimal Privacy-Utility Trade-Offs in LDP: Functional and Geometric Perspectives*."""
