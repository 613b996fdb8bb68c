"""What the site is built from: every file by hash, a bill of materials, known vulnerabilities where they can be known."""

import json
import re
import sys
from datetime import UTC, datetime

import pytest

from tests.live import ROOT
from tools import audit, sbom
from tools.pins import HASHED

NOW = datetime(2026, 11, 27, tzinfo=UTC)
# Of other Pythons and systems than those the pins were made on; nothing here needs them.
ELSEWHERE = {"async-timeout", "tzdata"}


def test_hashes_are_of_the_pinned_versions():
    hashed, pinned = sbom.pinned(ROOT / HASHED), sbom.pinned()
    assert {name: hashed.get(name) for name in pinned} == pinned
    assert set(hashed) - set(pinned) <= ELSEWHERE


def test_every_requirement_has_hashes_and_no_address():
    text = (ROOT / HASHED).read_text()
    parts = re.split(r"\n(?=[a-z])", text.partition("\n")[2])
    assert len(parts) > 50
    assert [part.split()[0] for part in parts if not re.search(r"--hash=sha256:[0-9a-f]{64}\b", part)] == []
    assert "://" not in text


def test_the_image_installs_by_hash():
    install = re.search(r"RUN pip install (.*)", (ROOT / "Dockerfile").read_text())[1]
    assert {"--require-hashes", "--only-binary", HASHED} <= set(install.split())


def test_a_bill_names_every_distribution_and_who_needs_whom():
    document = sbom.bill(sbom.pinned(), NOW)
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.6")
    assert {each["name"]: each["version"] for each in document["components"]} == sbom.pinned()
    references = {each["bom-ref"] for each in document["components"]} | {"accelweb"}
    assert {each["ref"] for each in document["dependencies"]} == references
    assert {name for each in document["dependencies"] for name in each["dependsOn"]} <= references
    needs = {each["ref"].partition("@")[0]: each["dependsOn"] for each in document["dependencies"]}
    assert any(name.startswith("pkg:pypi/asgiref@") for name in needs["pkg:pypi/django"])
    assert all(each.get("licenses") for each in document["components"] if each["name"] in {"django", "celery", "redis"})
    assert document == sbom.bill(sbom.pinned(), NOW)


def test_a_bill_is_not_written_of_other_versions():
    with pytest.raises(SystemExit, match=r"requirements\.txt has 0\.1"):
        sbom.bill({"django": "0.1"}, NOW)
    with pytest.raises(SystemExit, match="is not installed"):
        sbom.bill({"no-such-distribution": "1"}, NOW)


def test_a_bill_is_a_file(tmp_path):
    sbom.main([str(tmp_path / "new" / "sbom.json")])
    assert json.loads((tmp_path / "new" / "sbom.json").read_text())["components"]


def of(**dependency):
    return json.dumps({"dependencies": [{"name": "django", "version": "5.2", **dependency}]})


@pytest.mark.parametrize(
    ("printed", "status", "words"),
    [
        (of(vulns=[]), 0, "1 packages checked"),
        (
            of(vulns=[{"id": "CVE-1", "fix_versions": ["5.3"]}]),
            1,
            "1 packages checked\ndjango 5.2: CVE-1, corrected in 5.3",
        ),
        (of(skip_reason="not found"), 0, "NOT CHECKED: no vulnerability data can be reached from here"),
        ("", 0, "NOT CHECKED: no route to host"),
        ("[]", 0, "NOT CHECKED: no route to host"),
    ],
)
def test_what_was_not_checked_is_said(printed, status, words):
    assert audit.verdict(printed, "no route to host") == (status, words)


def test_a_tool_that_fails_is_quoted():
    program = "import sys; sys.exit('no route to host')"
    assert audit.verdict(*audit.answer_of((sys.executable, "-c", program))) == (0, "NOT CHECKED: no route to host")
