"""Benchmarks: rankings like for like, single results, rooflines, shares of published peaks, scaling. No models."""
