"""The multi-turn engine: trajectories, the journal that is their truth, and the run that plays them."""
