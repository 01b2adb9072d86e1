"""A ledger with a claim that kills its process, and one that is not as recorded."""
