"""Dated prices of accelerators: what a price must be, its file, its rows, and who makes it public."""
