"""Series and results of what was measured, and how two results compare."""
