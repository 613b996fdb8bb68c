"""Cited results: what others measured and published, each with its source, as reviewed files and as rows."""
