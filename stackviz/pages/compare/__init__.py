"""Comparisons of two to six spec sheets, stacks or machines. No models."""
