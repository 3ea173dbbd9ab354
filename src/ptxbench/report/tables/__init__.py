"""Kinds of table, one module each."""
