"""Public sets and own questions: ask, measure, print tables."""
