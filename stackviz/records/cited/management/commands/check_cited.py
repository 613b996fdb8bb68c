"""`manage.py check_cited`: checks every cited result; exit status 1 if one fails."""

import sys
from typing import Any

from django.core.management.base import BaseCommand

from stackviz.records.cited.checks import check_cited


class Command(BaseCommand):
    help = "Check units, parameters, dates, published bounds and sources of all cited results."

    def handle(self, *_args: Any, **_options: Any) -> None:  # noqa: ANN401 (Django's signature)
        checks = check_cited()
        for check in checks:
            wrong = f", {len(check.problems):,} wrong" if check.problems else ""
            state = "WRONG" if check.problems else "ok   "
            self.stdout.write(f"{state} {check.name:8} {check.title} ({check.checked:,} checked{wrong})")
            for problem in check.problems:
                self.stdout.write(f"        {problem.where}: {problem.problem}")
        if any(check.problems for check in checks):
            sys.exit(1)
