"""What accelerators really reach: rooflines, the share of published peaks, scaling curves. No models."""
