"""`manage.py load_stacks`: bring the database to the curated files; quick when nothing changed."""

from stackviz.records.catalog.management.load_command import LoadCommand
from stackviz.records.stacks.load import load_stacks


class Command(LoadCommand):
    help = "Load the curated stacks, components, counterparts, releases and requirements. Corrections are left alone."
    load = staticmethod(load_stacks)
