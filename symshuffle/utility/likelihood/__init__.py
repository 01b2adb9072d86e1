"""The canonical pair: likelihood-ratio quotients and laws, chi-square, certificates, limits, families."""
