"""Certificate files of claims, checked again with little code: rationals, comparisons, and dual vectors.

No solver and no computer algebra is imported. The relation of the two sides of each comparison is decided again, and
every sentence (``reads``) is composed again from the data. That the numbers come from the library no file can show: for
that, run the claim again and compare digests, which do not depend on the time or on the number of processes.
"""
