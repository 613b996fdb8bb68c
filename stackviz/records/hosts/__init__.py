"""Hosts: machines that their owners described in public, each fact as cited; reviewed files and rows."""
