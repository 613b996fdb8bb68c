"""For somebody who lost the phone and the recovery codes: the next login asks for the password alone."""

import logging
from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError

from stackviz.desk.accounts.second_factor import remove_devices

log = logging.getLogger(__name__)


class Command(BaseCommand):
    help = "Remove the second factor of an account. Make sure first that it is its owner who asks."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="the user name")

    def handle(self, *_arguments: Any, **options: Any) -> None:  # noqa: ANN401 - as Django's
        user = User.objects.filter(username=options["name"]).first()
        if user is None:
            raise CommandError(f"no account is named {options['name']!r}")
        number = remove_devices(user)
        log.warning("second factor of account %s: removed by a command", user.pk)
        self.stdout.write(f"{options['name']}: {number} removed" if number else f"{options['name']} has none")
