"""Declares no claims, and need not."""
