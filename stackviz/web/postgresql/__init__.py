"""A database backend: Django's PostgreSQL, whose web processes do not wait for ever for an answer."""
