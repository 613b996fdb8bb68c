"""Backups: the whole database in one file, taken while the site runs, and restored. Two commands, no models."""
