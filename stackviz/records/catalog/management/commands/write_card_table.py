"""`manage.py write_card_table`: the catalogue's names, as the rules carry them to machines without the site."""

from importlib import resources
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from stackviz.records.catalog.match import card_table, known_cards
from stackviz.report.rules.compatibility import CARDS_FILE


class Command(BaseCommand):
    help = "Write rules/tables/cards.csv from the catalogue in the database. Run load_catalogue first."

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ANN401, ARG002 - as Django's
        cards = known_cards()
        path = Path(str(resources.files("stackviz.report.rules"))) / "tables" / CARDS_FILE
        path.write_text(card_table(cards), encoding="utf-8")
        self.stdout.write(f"{len(cards)} names written to {path.name}")
