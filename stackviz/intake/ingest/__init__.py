"""Uploaded reports: accepted, interpreted, answered with a receipt."""
