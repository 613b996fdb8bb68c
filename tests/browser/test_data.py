"""The data page in a browser: read, checked and downloaded; nothing that axe can find is wrong with it."""

import hashlib
import re
from pathlib import Path

import pytest

from tests.browser.faults import faults_of

WAIT_MS = 60_000


@pytest.fixture(scope="module")
def written(site) -> None:
    site.manage("write_dump", "--if-due")


@pytest.mark.parametrize("path", ["/data/", "/data/schema/"])
def test_no_fault_is_found(visit, written, path):
    assert faults_of(visit(path)) == []


def test_downloaded_file_matches_its_checksum(visit, written):
    page = visit("/data/")
    page.get_by_text("SHA-256 of every file").click()
    row = page.locator("details.more tr", has_text="spec_values.csv")
    said = re.search(r"\b[0-9a-f]{64}\b", row.inner_text())
    assert said is not None
    with page.expect_download(timeout=WAIT_MS) as download:
        row.get_by_role("link").click()
    content = Path(download.value.path()).read_bytes()
    assert hashlib.sha256(content).hexdigest() == said[0]
    assert b"nvidia-h100-sxm5-80gb,bf16_tensor_tflops,989.4,TFLOPS" in content


def test_public_lab_machines_are_exported(site, visit, written):
    status, text = site.get("/data/machines.jsonl")
    assert status == 200
    assert '"machine":"rack-7"' in text
