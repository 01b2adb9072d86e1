"""A small ledger in which everything is as recorded."""
