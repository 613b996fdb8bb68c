"""`manage.py load_catalogue`: bring the database to the curated files; quick when nothing changed."""

from stackviz.records.catalog.load import load_catalogue
from stackviz.records.catalog.management.load_command import LoadCommand


class Command(LoadCommand):
    help = "Load the curated accelerators, values, sources and names. Values corrected in the admin are left alone."
    load = staticmethod(load_catalogue)
