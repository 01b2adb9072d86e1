"""Randomizers of vectors, written once: densities, frames, sampling. No guarantee, no risk."""
