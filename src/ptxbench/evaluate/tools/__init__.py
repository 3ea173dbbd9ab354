"""NVIDIA's own tools around a candidate's process: where they are, how they are run, and what their reports say as records."""
