"""Benchmarks: what is run, how it is timed, and what is noted with each time. docs/recipes/benchmark.md adds one."""
