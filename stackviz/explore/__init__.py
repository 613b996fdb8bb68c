"""All accelerators at once: the ladder, the scatter and the time line. No models."""
