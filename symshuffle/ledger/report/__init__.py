"""Faces of the ledger: terminal, JSON, and a site that needs no network."""
