"""The ledger: every numbered statement of the five papers, what was checked of it, and how strongly."""
