"""The document on diagnosing names every kind of dump that is read, with the tool that prints it."""

import re
from pathlib import Path

from stackviz.importers import IMPORTERS

DOCUMENT = Path(__file__).parents[2] / "docs" / "diagnose.md"


def test_every_kind_has_its_line():
    rows = re.findall(r"^\| (.+?) \| `([a-z0-9-]+)` \| .+ \|$", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE)
    told = {kind: tool.replace("`", "") for tool, kind in rows if kind in {importer.kind for importer in IMPORTERS}}
    assert told == {importer.kind: importer.tool for importer in IMPORTERS}
