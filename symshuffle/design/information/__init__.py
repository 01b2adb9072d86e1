"""The largest information measures over LDP channels: numbers with certificates, and formulas in the level."""
