"""Stacks, components, counterparts, releases, requirements."""
