"""Lowering of programs to WGSL."""
