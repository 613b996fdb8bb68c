"""Probes: each asks one part of the machine, in a process of its own, and tells facts or why there are none."""
