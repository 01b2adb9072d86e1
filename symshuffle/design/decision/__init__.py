"""Decision problems, the programs over LDP channels that solve them, and the certificates of their optima."""
