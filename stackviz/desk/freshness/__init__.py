"""Holds tables and links against what others publish now; each difference waits for a person. `/freshness/`."""
