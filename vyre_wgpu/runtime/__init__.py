"""Adapters and devices: which GPU, with which limits, and whether it may still be used."""
