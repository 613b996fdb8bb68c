"""Probes: each reads one part of the machine in its own process, and reports facts or why there are none."""
