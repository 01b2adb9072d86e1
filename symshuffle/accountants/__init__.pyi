"""The public names of this room, and the module that each is loaded from on first use."""

from .bounds.evaluate import evaluate_law as evaluate_law
