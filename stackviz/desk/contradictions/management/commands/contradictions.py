"""`manage.py contradictions`: lists public statements that disagree; exit status 1 if any do."""

import sys
from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from stackviz.desk.contradictions.pairs import Known
from stackviz.desk.contradictions.walk import walk


class Command(BaseCommand):
    help = "List statements of two places that disagree, such as a plan and the diagnosis of the stack it installs."

    def handle(self, *_args: Any, **_options: Any) -> None:  # noqa: ANN401 (Django's signature)
        pairs = disagreeing = 0
        for kind in walk(Known(timezone.now())):
            self.stdout.write(f"{kind.title}: {kind.pairs:,} pairs, {len(kind.contradictions):,} disagree")
            pairs, disagreeing = pairs + kind.pairs, disagreeing + len(kind.contradictions)
            for pair in kind.contradictions:
                first, second = pair.first, pair.second
                self.stdout.write(f"  {first.where}: {first.text} <> {second.where}: {second.text}")
        self.stdout.write(f"{pairs:,} pairs walked, {disagreeing:,} disagree")
        if disagreeing:
            sys.exit(1)
