"""The graph of a run: ground (state, ports, budget, policies) and the nodes."""
