"""Whom a bound covers: adjacency, groups, dropout, null symbol, and the laws that this needs."""
