"""Turns that were made elsewhere, as run directories that everything else here reads like its own."""
