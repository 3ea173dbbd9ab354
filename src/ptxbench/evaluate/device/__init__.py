"""The judge on a GPU: memory that is lent to a candidate, the rules of correctness where its outputs lie, and the stages."""
