"""Plain data in, pictures out: no requests, no tables."""
