"""`?format=` on every page: the file it has, or 406 with the formats there are. Never the page instead."""

from urllib.parse import urlsplit

import pytest
from django.core.cache import cache
from django.urls import resolve

from tests.web.test_every_page import pages_of_a_visitor

TYPES = {
    "csv": "text/csv",
    "json": "application/json",
    "md": "text/markdown",
    "svg": "image/svg+xml",
    "xlsx": None,
}


@pytest.fixture(scope="module")
def pages(cited, django_db_blocker):
    with django_db_blocker.unblock():
        cache.clear()
        return [address for address in pages_of_a_visitor() if "format=" not in address]


@pytest.fixture(autouse=True)
def _no_limits(settings, tmp_path):
    settings.VAR_DIR, settings.REDIS_URL = tmp_path, ""
    settings.READS_PER_MINUTE = settings.PLANS_PER_MINUTE = settings.DIAGNOSES_PER_MINUTE = 10**6


@pytest.fixture
def ask(client, db):
    def asked(address, form):
        return client.get(f"{address}{'&' if '?' in address else '?'}format={form}")

    return asked


@pytest.mark.parametrize("form", TYPES)
def test_every_page_serves_a_format_or_refuses_it(pages, ask, form):
    served, faults = 0, []
    for address in pages:
        answer = ask(address, form)
        offered = getattr(resolve(urlsplit(address).path).func, "formats", ())
        content_type = answer.headers.get("Content-Type", "").partition(";")[0]
        if answer.status_code == 406:
            faults += [f"{address}: refused though offered"] * (form in offered)
            faults += [f"{address}: {answer.json()}"] * (not all(each in answer.json()["error"] for each in offered))
        elif answer.status_code == 200:
            served += 1
            faults += [f"{address}: {content_type}"] * (content_type != TYPES[form])
        elif answer.status_code not in (301, 302, 404, 422) or (
            answer.status_code == 422 and content_type != "application/json"
        ):
            faults.append(f"{address}: {answer.status_code} {content_type}")
    assert not faults, "\n".join(faults)
    assert (served > 0) == (form != "xlsx")


@pytest.mark.parametrize(
    ("address", "form", "reason"),
    [
        ("/causes/", "json", "This address has no files, so it takes no format"),
        ("/timeline/", "csv", "This address has no files, so it takes no format"),
        ("/fit/", "json", "Unknown format “json”; choose csv"),
        ("/accelerators/", "xml", "Unknown format “xml”; choose csv or json"),
        ("/compare/", "xlsx", "Unknown format “xlsx”; choose csv, json, md or svg"),
        ("/benchmarks/gemm/", "pdf", "Unknown format “pdf”; choose csv, json or svg"),
    ],
)
def test_a_refused_format_names_those_there_are(ask, curated, address, form, reason):
    answer = ask(address, form)
    assert (answer.status_code, answer.json()) == (406, {"error": reason, "field": "format"})


def test_an_empty_format_is_the_page(ask, curated):
    assert ask("/claims/", "").headers["Content-Type"].startswith("text/html")


def test_of_several_formats_each_must_exist(client, curated, db):
    assert client.get("/claims/?format=pdf&format=csv").status_code == 406


@pytest.mark.parametrize("address", ["/api/v1/accelerators/", "/admin/login/"])
def test_the_api_and_the_admin_have_rules_of_their_own(ask, curated, address):
    assert ask(address, "xml").status_code != 406
