"""One loaded site with a worker and a machine on it, for all journeys of this folder; each journey is a new visitor."""

import json
import shutil
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.curated import curated_file
from tests.live import Site
from tests.report.format.reports import apple_report_body, report_body

PASSWORD = "correct horse battery staple"


class LoadedSite(Site):
    """A site with curated data, a public lab with two machines, an admin, and a key to send more."""

    key: str

    def send(self, body: dict[str, Any]) -> str:
        """Uploads a report -> its receipt's address. The worker reads it in its own time."""
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        request = urllib.request.Request(f"{self.url}/api/v1/reports/", json.dumps(body).encode(), headers)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return str(json.load(answer)["receipt_url"])
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{error.code}: {error.read().decode()}") from error

    def send_and_wait(self, body: dict[str, Any]) -> None:
        self.send(body)
        self.wait_until(lambda: self.is_read(body["id"]), "the report is read")

    def is_read(self, report_id: str) -> bool:
        status, text = self.get(f"/api/v1/reports/{report_id}/")
        return status == 200 and json.loads(text)["status"] == "read"


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LoadedSite]:
    folder = tmp_path_factory.mktemp("browsed")
    shutil.copy(curated_file(), folder / "accelweb.sqlite3")
    made = LoadedSite(folder)
    try:
        made.key = made.new_key()
        made.shell(
            "from django.contrib.auth.models import User\n"
            f"User.objects.create_superuser('curator', 'curator@example.org', {PASSWORD!r})\n"
            f"User.objects.create_superuser('second', 'second@example.org', {PASSWORD!r})"
        )
        made.start_web()
        made.start_worker()
        made.send_and_wait(report_body())
        made.send_and_wait(apple_report_body())
        yield made
    finally:
        made.stop()


@pytest.fixture
def visit(site: LoadedSite, browser_page) -> Callable[[str], Any]:
    """Opens a page of the site -> the browser's page. Fails on an error status."""

    def go(path: str):
        answer = browser_page.goto(site.url + path, wait_until="load")
        assert answer.status < 400, f"{path}: {answer.status}"
        return browser_page

    return go


@pytest.fixture
def log_in(visit) -> Callable[..., Any]:
    """The curator, or whoever is named, logged in to the admin."""

    def go(name: str = "curator"):
        page = visit("/admin/login/")
        page.fill("#id_username", name)
        page.fill("#id_password", PASSWORD)
        page.click("form.login button")
        page.wait_for_url("**/admin/")
        return page

    return go
