"""The front doors of one question each: solve, inverses, curves, trade-offs, worst datasets."""
