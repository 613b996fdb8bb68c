"""Fills a site's folder through the doors that stay: management commands, HTTP, models by their label."""

import hashlib
import json
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.apps import apps
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command, get_commands
from django.test import Client

from tests.golden import pinned
from tests.golden.reports import Document, moment, private_reports, public_reports
from tests.golden.visits import DUMPS

KEYS = {name: f"aw_{name}_" + "s" * 43 for name in ("goldnort", "goldcell", "goldrevo", "goldexpi")}
HEADER = "device,field,value,unit,condition,basis,status,source,note"
TABLE = (
    "nvidia-t4,memory_bandwidth_gb_s,321,GB/s,,published,public,sysrqmts-nvidia-tesla-t4,as rounded in May",
    "nvidia-t4,l2_cache_mb,4.5,MB,,published,public,sysrqmts-nvidia-tesla-t4,",
    "nvidia-t4,launch_price_usd,2300,USD,price=listing,published,public,heise-tesla-t4,at launch",
    "nvidia-t4,chip,TU104-895,,,published,public,sysrqmts-nvidia-tesla-t4,",
)
REFUSED = (
    "nvidia-t4,tdp_w,70,GB/s,,published,public,sysrqmts-nvidia-tesla-t4,",
    "nvidia-h999,tdp_w,70,W,,published,public,zzz,",
)
LOADERS = ("migrate", "load_catalogue", "load_stacks", "load_cited")


def model(label: str) -> Any:
    return apps.get_model(label)


def available(commands: Iterable[str]) -> list[str]:
    """Those of the commands that this code has: the one before cited results cannot load any."""
    return [command for command in commands if command in get_commands()]


def seed(folder: Path) -> None:
    """A site with everything that pages show; `folder`/seed.json says what was made under which address."""
    pinned.set_clock(datetime(2026, 10, 1, 6, 0, tzinfo=UTC))
    for command in available(LOADERS):
        call_command(command, verbosity=0)
    people()
    for key, reports in (("goldnort", public_reports()), ("goldcell", private_reports())):
        for report in reports:
            send(key, report)
    proposals()
    names()
    made = {
        "saved": saved_link(),
        "reports": [
            str(pk) for pk in model("labs.Report").objects.order_by("received_at", "pk").values_list("pk", flat=True)
        ],
    }
    pinned.set_clock(datetime(2026, 11, 22, 2, 5, tzinfo=UTC))
    pinned.reseed("dump")
    call_command("write_dump", verbosity=0)
    (folder / "seed.json").write_text(json.dumps(made, indent=1))


def people() -> None:
    users = model("auth.User").objects
    root = users.create_superuser("root", "root@example.org", "root")
    ada = users.create_user("ada", "ada@example.org", "ada")
    ben = users.create_user("ben", "ben@example.org", "ben", is_staff=True)
    ben.user_permissions.set(
        model("auth.Permission").objects.filter(content_type__app_label="catalog", codename__in=(
            "propose", "view_proposal", "view_specvalue", "add_specvalue", "change_specvalue", "view_accelerator"))
    )  # fmt: skip
    labs = model("labs.Lab").objects
    made = datetime(2026, 10, 1, 7, 0, tzinfo=UTC)
    north = labs.create(slug="north", name="North lab", is_public=True, created_at=made)
    cellar = labs.create(slug="cellar", name="Cellar lab", is_public=False, created_at=made)
    labs.create(slug="empty", name="Empty lab", is_public=True, created_at=made)
    members = model("labs.Membership").objects
    members.create(lab=cellar, user=ada, role="owner")
    members.create(lab=north, user=ada, role="member")
    model("labs.Machine").objects.create(lab=north, slug="announced", name="announced", created_at=made)
    later = made.replace(day=2)
    more = {"goldrevo": {"revoked_at": later}, "goldexpi": {"expires_at": later}}
    for name, text in KEYS.items():
        model("labs.AgentKey").objects.create(
            lab=cellar if name == "goldcell" else north, name=f"key {name}", prefix=name, created_at=made, created_by=root,
            digest=hashlib.sha256(text.encode()).hexdigest(), **more.get(name, {}),
        )  # fmt: skip


def send(key: str, report: Document) -> None:
    pinned.set_clock(moment(report))
    pinned.reseed(report["id"])
    answer = Client().post(
        "/api/v1/reports/",
        json.dumps(report),
        content_type="application/json",
        headers={"Authorization": f"Bearer {KEYS[key]}"},
    )
    if answer.status_code != 202:
        raise RuntimeError(f"{report['machine']['name']}: {answer.status_code} {answer.content[:500]!r}")


def signed_in(name: str) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(model("auth.User").objects.get(username=name))
    return client


def upload_table(client: Client, *lines: str, name: str = "may.csv") -> str:
    """Address of the preview."""
    file = SimpleUploadedFile(name, "\r\n".join([HEADER, *lines, ""]).encode(), "text/csv")
    answer = client.post("/admin/catalog/specvalue/import/", {"file": file, "reason": "data sheet of May"})
    return str(answer["Location"])


def confirm_table(client: Client, address: str) -> None:
    page = client.get(address).content.decode()
    seen = re.search(r'name="seen"[^>]*value="([^"]*)"|value="([^"]*)"[^>]*name="seen"', page)
    if seen is None:
        raise RuntimeError("the preview of a table has no field named seen")
    answer = client.post(address, {"seen": seen[1] or seen[2], "leave_out": "1"})
    if answer.status_code != 302:
        raise RuntimeError(f"{address}: {answer.status_code}")


def proposals() -> None:
    """A table of Ben's: one proposal approved, one rejected, two open; and one of root's that waits for its preview."""
    pinned.set_clock(datetime(2026, 11, 18, 9, 0, tzinfo=UTC))
    pinned.reseed("proposals")
    ben, root = signed_in("ben"), signed_in("root")
    confirm_table(ben, upload_table(ben, *TABLE, *REFUSED))
    pinned.set_clock(datetime(2026, 11, 19, 9, 0, tzinfo=UTC))
    pks = list(model("catalog.Proposal").objects.order_by("pk").values_list("pk", flat=True))
    if len(pks) < 3:
        raise RuntimeError(f"the table became {len(pks)} proposals")
    root.post(f"/admin/catalog/proposal/{pks[0]}/decide/", {"decision": "approve", "answer": "seen on the data sheet"})
    root.post(f"/admin/catalog/proposal/{pks[1]}/decide/", {"decision": "reject", "answer": "the source says 4 MB"})
    pinned.set_clock(datetime(2026, 11, 22, 11, 0, tzinfo=UTC))
    upload_table(root, *TABLE, *REFUSED, name="waiting.csv")


def names() -> None:
    """One reported name is dismissed; another waits."""
    pinned.set_clock(datetime(2026, 11, 21, 9, 0, tzinfo=UTC))
    pinned.reseed("names")
    form = {
        "action": "ignore",
        "reported_name": "NVIDIA Graphics Device",
        "vendor": "nvidia",
        "seen": "0",
        "reason": "not for sale",
    }
    signed_in("root").post("/admin/labs/card/names/", form)


def saved_link() -> str:
    """The address of a text that was saved."""
    pinned.set_clock(datetime(2026, 11, 21, 10, 0, tzinfo=UTC))
    pinned.reseed("saved")
    text = (DUMPS / "two_machines.txt").read_text(encoding="utf-8")
    return save(Client(), text)[0]


def save(client: Client, text: str) -> tuple[str, str]:
    """-> (address, its deletion code, of which each language has a cookie)."""
    page = client.post("/diagnose/save/", {"text": text}).content.decode()
    ticket = re.search(r'name="ticket"[^>]*value="([^"]*)"|value="([^"]*)"[^>]*name="ticket"', page)
    if ticket is None:
        raise RuntimeError("the page that saves has no field named ticket")
    answer = client.post("/diagnose/save/", {"text": text, "ticket": ticket[1] or ticket[2]})
    if answer.status_code != 303:
        raise RuntimeError(f"saving: {answer.status_code}")
    return str(answer["Location"]), answer.cookies["diagnose_delete_en"].value
