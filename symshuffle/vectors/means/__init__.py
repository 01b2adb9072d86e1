"""Means of users' vectors, from data to answer."""
