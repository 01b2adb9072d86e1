"""What the anchored law of a channel can do under a cap or a budget: envelopes, frontiers, equivariant designs."""
