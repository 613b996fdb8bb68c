"""`manage.py load_cited`: bring the database to the curated files; quick when nothing changed."""

from stackviz.records.catalog.management.load_command import LoadCommand
from stackviz.records.cited.load import load_cited
from stackviz.records.curated.change import LoadSummary


class Command(LoadCommand):
    help = "Load what others measured and published. Run load_catalogue first. Corrections are left alone."

    def load(self, *, force: bool) -> LoadSummary:
        return load_cited(force=force)
