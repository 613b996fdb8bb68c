#!/usr/bin/env python
"""Django's command line for accelweb: `python manage.py help`."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "accelweb.settings")
    from django.core.management import execute_from_command_line

    from accelweb.env import EnvError

    try:
        if sys.argv[1:2] == ["up"]:  # supervises for days, so without the site's code in its memory
            from stackviz.site.up.management.commands.up import Command

            Command().run_from_argv(sys.argv)
        else:
            execute_from_command_line(sys.argv)
    except EnvError as error:
        sys.exit(f"accelweb: {error}")


if __name__ == "__main__":
    main()
