"""Estimating the composition of a population from shuffled messages: exact risks and lower bounds."""
