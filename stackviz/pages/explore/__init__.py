"""All accelerators at once: the ladder, the scatter, the heat map and the time line. No models."""
