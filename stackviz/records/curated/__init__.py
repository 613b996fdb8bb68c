"""Rows of curated files: where they come from, their history, their loads, and editions that name a present state."""
