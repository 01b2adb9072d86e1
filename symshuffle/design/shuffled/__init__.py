"""Best exchangeable channel for a central target (eps, delta): a channel, an upper bound on the trace, designs."""
