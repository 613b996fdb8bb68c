"""Comparisons of two to six spec sheets, stacks, machines or public hosts. No models."""
