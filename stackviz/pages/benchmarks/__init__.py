"""Benchmarks and what others reached in them: `/benchmarks/`, rankings like for like, single results. No models."""
