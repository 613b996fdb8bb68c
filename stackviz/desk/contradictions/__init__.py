"""Pairs of public statements that must agree. `manage.py contradictions` lists those that do not. No models."""
