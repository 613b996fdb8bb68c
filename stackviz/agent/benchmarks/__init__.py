"""Benchmarks: what is run, how it is timed, and what is noted beside each time. docs/recipes/benchmark.md adds one."""
