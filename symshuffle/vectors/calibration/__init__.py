"""Parameters of smallest error that meet a guarantee, with certificates."""
