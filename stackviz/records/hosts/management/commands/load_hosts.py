"""`manage.py load_hosts`: bring the database to the curated files; quick when nothing changed."""

from stackviz.records.catalog.management.load_command import LoadCommand
from stackviz.records.curated.change import LoadSummary
from stackviz.records.hosts.load import load_hosts


class Command(LoadCommand):
    help = "Load the machines that their owners described in public. Run load_catalogue first. Corrections stay."

    def load(self, *, force: bool) -> LoadSummary:
        return load_hosts(force=force)
