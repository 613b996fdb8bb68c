"""`/data/` lists what is there and hands it out with checksum and length; what is public no more it hands out no more."""

import hashlib
import html
import json
import re

import pytest

from stackviz.pages.data.dump import write_dump
from stackviz.pages.data.schema import TABLES
from stackviz.records.labs.models import Lab
from tests.languages import chinese
from tests.responses import words_of


def body(response) -> bytes:
    return b"".join(response.streaming_content) if response.streaming else response.content


def test_before_it_is_written_the_page_says_what_to_do(client, db):
    response = client.get("/data/")
    assert response.status_code == 200
    assert "No export yet." in words_of(response)
    assert "manage.py write_dump" in words_of(response)
    assert client.get("/data/spec_values.csv").status_code == 404


def test_data_page_lists_files_and_checksums(client, labs, django_assert_max_num_queries):
    assert "application/ld+json" not in client.get("/data/").content.decode()
    dump = write_dump()
    with django_assert_max_num_queries(2):
        response = client.get("/data/")
    page = response.content.decode()
    files = {file.name: file for file in dump.files}
    assert len(files) > 10
    for name, file in files.items():
        assert f'href="/data/{name}"' in page
        assert file.sha256 in page or not file.table
    assert "sha256sum --check --ignore-missing SHA256SUMS" in page
    assert len(response.content) < 100_000
    # and names them to search engines
    data = json.loads(page.split('<script type="application/ld+json">')[1].split("</script>")[0])
    assert (data["@type"], data["version"]) == ("Dataset", dump.name)
    licence = data["license"]
    assert (licence["identifier"], licence["url"]) == ("LicenseRef-accelweb-data", "http://testserver/data/#terms")
    terms = page.partition('id="terms"')[2].partition("</p>")[0]
    assert licence["text"].partition(":")[0] in terms
    (named,) = [file for file in data["distribution"] if file["name"] == "spec_values.csv"]
    assert named["sha256"] == files["spec_values.csv"].sha256
    assert hashlib.sha256(body(client.get(named["contentUrl"]))).hexdigest() == named["sha256"]


def test_files_have_one_address_in_all_languages(client, labs):
    """A command copied from a Chinese page, and what search engines are told, lead to files."""
    write_dump()
    page = client.get(chinese("/data/")).content.decode()
    commands = re.findall(r"http://testserver(/\S*/)(?:spec_values|SHA256SUMS)", html.unescape(page))
    assert set(commands) == {"/data/"}
    data = json.loads(page.split('<script type="application/ld+json">')[1].split("</script>")[0])
    assert data["url"] == "http://testserver" + chinese("/data/")
    assert {file["contentUrl"] for file in data["distribution"]} >= {"http://testserver/data/vendors.csv"}


@pytest.mark.parametrize("path", ["/data/", "/data/schema/"])
def test_tables_and_columns_are_explained_in_chinese(client, labs, path):
    write_dump()
    response = client.get(chinese(path))
    assert "销售本目录中加速器的公司。" in words_of(response)
    assert 'lang="en"' not in response.content.decode().split("<main")[1]


def test_every_listed_file_is_sent_as_it_was_written(client, labs):
    dump = write_dump()
    for file in dump.files:
        response = client.get(f"/data/{file.name}")
        content = body(response)
        assert hashlib.sha256(content).hexdigest() == file.sha256
        assert int(response["Content-Length"]) == file.bytes == len(content)
        assert response["ETag"] == f'"{file.sha256}"'
        assert response["Access-Control-Allow-Origin"] == "*"
        assert response["Content-Type"].split(";")[0] != "text/html"


def test_files_are_sent_once_and_are_read_only(client, labs):
    write_dump()
    first = client.get("/data/vendors.jsonl")
    body(first)
    tag = first["ETag"]
    again = client.get("/data/vendors.jsonl", headers={"if-none-match": tag})
    assert (again.status_code, again.content, again["ETag"]) == (304, b"", tag)
    assert len(body(client.get("/data/vendors.jsonl", headers={"if-none-match": '"other"'}))) > 20
    head = client.head("/data/vendors.csv")
    assert head.status_code == 200
    assert int(head["Content-Length"]) > 20
    head.close()
    assert client.post("/data/vendors.csv").status_code in (403, 405)


OTHER_PATHS = (
    "/data/.reports", "/data/.manifest.json", "/data/latest", "/data/.lock", "/data/nothing.csv", "/data/..%2Flatest",
    "/data/%2E%2E/latest", "/data/20261120T020000Z/manifest.json", "/data/..%2F..%2Fetc/passwd", "/data/%00",
)  # fmt: skip


def test_nothing_but_files_of_the_manifest_is_handed_out(client, labs):
    write_dump()
    assert {path: client.get(path).status_code for path in OTHER_PATHS} == dict.fromkeys(OTHER_PATHS, 404)


def test_an_older_dump_keeps_its_address(client, labs):
    older = write_dump()
    newest = write_dump()
    assert newest.name != older.name
    assert f"/data/{older.name}/manifest.json" in client.get("/data/").content.decode()
    sent = body(client.get(f"/data/{older.name}/vendors.csv"))
    assert sent == (older.folder / "vendors.csv").read_bytes()


def test_machines_of_newly_private_lab_vanish(client, labs):
    older = write_dump()
    write_dump()
    Lab.objects.filter(slug="north").update(is_public=False)
    for name in ("machines.csv", "cards.jsonl", "results.parquet"):
        withheld = client.get(f"/data/{name}")
        assert (withheld.status_code, withheld["Retry-After"]) == (503, "120")
        assert client.get(f"/data/{older.name}/{name}").status_code == 410
    assert b"989.4" in body(client.get("/data/spec_values.csv"))
    assert "being rebuilt" in words_of(client.get("/data/"))
    write_dump()
    assert b"dgx-07" not in body(client.get("/data/machines.csv"))


def test_the_schema_page_explains_every_column_of_every_table(client, db, django_assert_num_queries):
    with django_assert_num_queries(0):
        response = client.get("/data/schema/")
    page = words_of(response)
    for table in TABLES:
        assert table.title in page
        for column in table.columns:
            assert column.name in page
    assert len(response.content) < 100_000
