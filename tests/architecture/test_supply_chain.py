"""The image is built from files that are fixed by hash."""

import re

from packaging.utils import canonicalize_name

from tests.live import ROOT
from tools.pins import HASHED

# Of other Pythons and systems than those the pins were made on; nothing here needs them.
ELSEWHERE = {"async-timeout", "tzdata"}


def pinned_versions(name: str) -> dict[str, str]:
    lines = re.findall(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", (ROOT / name).read_text(), re.MULTILINE)
    return {canonicalize_name(package): version for package, version in lines}


def test_hashes_are_of_the_pinned_versions():
    hashed = pinned_versions(HASHED)
    pinned = pinned_versions("requirements.txt") | pinned_versions("requirements-parquet.txt")
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
