"""The canonical pair: likelihood-ratio quotients and laws, chi-square budgets, certificates, limits, extreme families."""
