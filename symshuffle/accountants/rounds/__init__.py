"""Many rounds together: losses on a lattice, their sums, and the rounds of a deployment."""
