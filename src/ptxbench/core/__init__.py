"""Foundations that know nothing of kernels: errors, settings, content store, canonical JSON, journals, bounded processes."""
