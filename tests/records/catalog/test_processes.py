"""A page of one process shows what another process has changed, at the next request: on SQLite and on PostgreSQL.

The first process keeps the public catalogue in memory (`catalog.queries`) and rendered parts in the cache.
"""

import shutil
from pathlib import Path

import pytest

from stackviz.records.catalog.files import DATA

PAGES = (
    "/accelerators/nvidia-h100-sxm5-80gb/",
    "/accelerators/?q=h100+sxm5",
    "/accelerators/?vendor=nvidia&sort=-memory_bandwidth_gb_s&unfolded=1",
    "/ladder/?field=memory_bandwidth_gb_s",
    "/compare/?a=nvidia-h100-sxm5-80gb&a=nvidia-a100-sxm4-80gb",
)
READ = """
from stackviz.records.catalog.models import SpecValue
value = SpecValue.objects.get(
    accelerator__slug="nvidia-h100-sxm5-80gb", field="memory_bandwidth_gb_s", is_preferred=True
)
"""


@pytest.fixture(params=["sqlite", "postgresql"])
def site(request, new_site):
    """A site with one web process, which has shown every page already."""
    is_sqlite = request.param == "sqlite"
    url = "" if is_sqlite else request.getfixturevalue("migrated_postgres")
    made = new_site(loaded=is_sqlite, database_url=url, CURATION_APPROVALS="1")
    if not is_sqlite:
        made.manage("load_catalogue")
    made.start_web(workers=1)
    assert_shown(made, "3,350")
    return made


def assert_shown(site, figure: str) -> None:
    """Every page shows the figure, and did not show it by chance: the others are not there."""
    for page in PAGES:
        status, text = site.get(page)
        shown = [one for one in ("3,350", "3,351", "3,352", "3,353", "3,354") if one in text]
        assert (page, status, figure in shown) == (page, 200, True), shown


def save(site, value: str) -> None:
    site.shell(READ + f"value.value = '{value}'\nvalue.save()")


def update(site, value: str) -> None:
    """In bulk, for which Django sends no signal."""
    site.shell(READ + f"SpecValue.objects.filter(pk=value.pk).update(value='{value}', amount={value}e9)")


def correct_in_the_admin(site, value: str) -> None:
    site.shell(
        READ
        + "from django.contrib.auth.models import User\n"
        + "from django.test import Client\n"
        + "from tests.desk.curation.test_admin import change_url, form_of\n"
        + "desk = Client(SERVER_NAME='127.0.0.1')\n"
        + "desk.force_login(User.objects.create_superuser('mira', 'mira@example.org', 'secret'))\n"
        + f"answer = desk.post(change_url(value), form_of(value, value='{value}', reason='measured again'))\n"
        + "assert answer.status_code == 302, answer.content.decode()"
    )


def load(site, value: str) -> None:
    """As a new version of the curated files would."""
    folder = Path(site.folder) / "data"
    shutil.copytree(DATA, folder)
    lines = folder / "specs" / "nvidia.csv"
    text = lines.read_text(encoding="utf-8")
    line = "nvidia-h100-sxm5-80gb,memory_bandwidth_gb_s,3350,GB/s,,published,public,"
    assert text.count(line) == 1
    lines.write_text(text.replace(line, line.replace("3350", value)), encoding="utf-8")
    site.shell(
        "from pathlib import Path\n"
        "from stackviz.records.catalog.load import load_catalogue\n"
        f"load_catalogue(Path({str(folder)!r}))"
    )


def test_what_another_process_changes_shows_on_the_next_page(site):
    load(site, "3351")  # first: what was corrected by hand is left alone by a load
    assert_shown(site, "3,351")
    save(site, "3352")
    assert_shown(site, "3,352")
    update(site, "3353")
    assert_shown(site, "3,353")
    correct_in_the_admin(site, "3354")
    assert_shown(site, "3,354")
    site.shell(
        "from stackviz.records.catalog.models import Accelerator\n"
        "card = Accelerator.objects.get(slug='nvidia-h100-sxm5-80gb')\n"
        "card.is_public = False\n"
        "card.save()"
    )
    assert site.get("/accelerators/nvidia-h100-sxm5-80gb/")[0] == 404
    for page in PAGES[1:]:
        assert "H100 SXM5" not in site.get(page)[1]
