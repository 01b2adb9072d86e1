"""Whom a bound covers: groups of users, adjacency, null symbol, and the laws that this needs."""
