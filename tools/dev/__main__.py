"""The site while you work on it: `make dev [PORT=8001] [TOOLBAR=1]`, on 127.0.0.1 only.

Everything is in var/dev, apart from the data of `make run`: the curated catalogue, stacks and cited results, and a lab
with the three machines of tests/fixtures/reports. Then Django's runserver: it restarts when code changes; templates,
styles and scripts show at the next load. `rm -r var/dev` starts anew.
"""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REPORTS = ROOT / "tests" / "fixtures" / "reports"
NAME = PASSWORD = "dev"  # noqa: S105 - of a site that nobody else reaches


def main() -> None:
    os.chdir(ROOT)
    os.environ["DJANGO_SETTINGS_MODULE"] = "tools.dev.settings"
    import django

    django.setup()
    prepare()
    port = os.environ.get("PORT") or "8000"
    print(f"\n  site   http://127.0.0.1:{port}/")
    print(f"  admin  http://127.0.0.1:{port}/admin/   name {NAME}, password {PASSWORD}\n", flush=True)
    os.execv(sys.executable, [sys.executable, "manage.py", "runserver", f"127.0.0.1:{port}"])  # noqa: S606 - our own


def prepare() -> None:
    """Tables, curated data, an account and the recorded machines: what is there already stays."""
    from django.conf import settings
    from django.contrib.auth.models import User

    from stackviz.site.up import database
    from stackviz.site.up.start import StartProgress
    from stackviz.site.up.steps import LOADERS

    progress = StartProgress(sys.stdout)
    Path(settings.VAR_DIR).mkdir(parents=True, exist_ok=True)
    with progress.step("database") as step:
        step.outcome = database.migrate()
    for name, command in LOADERS:
        with progress.step(name) as step:
            step.outcome = database.run_loader(command)
    if not User.objects.filter(username=NAME).exists():
        User.objects.create_superuser(NAME, password=PASSWORD)
    with progress.step("recorded machines") as step:
        step.outcome = f"{load_reports()} new"


def load_reports() -> int:
    """Send each recorded report to a new public lab, as an agent does. Returns how many; 0 where the lab exists."""
    from django.contrib.auth.models import User

    from stackviz.intake.ingest.accept import accept_report
    from stackviz.records.labs.keys import authenticate, create_key
    from stackviz.records.labs.models import Lab, Membership

    lab, is_new = Lab.objects.get_or_create(slug="samples", defaults={"name": "Sample lab", "is_public": True})
    if not is_new:
        return 0
    Membership.objects.create(lab=lab, user=User.objects.get(username=NAME), role=Membership.Role.OWNER)
    _key, text = create_key(lab=lab, name="make dev")
    sender = authenticate(f"Bearer {text}")
    return sum(accept_report(sender, path.read_bytes(), "").is_new for path in sorted(REPORTS.glob("*.json")))


if __name__ == "__main__":
    main()
