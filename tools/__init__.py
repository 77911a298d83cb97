"""Documents in, evidence out: parse, split, store and search."""
