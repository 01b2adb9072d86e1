"""From a randomizer of vectors to its laws of G, and to brackets."""
