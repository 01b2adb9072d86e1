"""Anchored geometry: a channel as the law of its likelihood-ratio templates, and everything that is a moment of it."""
