"""Kinds of figure, one module each: Altair charts over what ``metrics`` says."""
