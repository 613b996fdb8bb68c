"""Vendors, accelerators, spec values with source and condition, names they report: models, files, checks, queries."""
