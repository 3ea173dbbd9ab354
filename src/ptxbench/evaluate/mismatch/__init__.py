"""How an output differs from its reference: the two rules of correctness, and what a wrong output looks like."""
