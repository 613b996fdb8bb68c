"""Asks a running site whatever its OpenAPI document allows, and what it forbids: schemathesis, by its own command."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.curated import curated_file
from tests.live import ROOT, Site

HERE = Path(__file__).resolve().parent
MANY = str(10**9)
UNHURRIED = {"UPLOADS_PER_MINUTE": MANY, "DIAGNOSES_PER_MINUTE": MANY}  # nobody is asked to wait
FILL = """
from stackviz.records.catalog.models import Accelerator
from stackviz.records.labs.keys import create_key
from tests.pages.machines.factories import gemm, h100, make_lab, make_machine, make_report, warning
lab, sheet = make_lab(), Accelerator.objects.get(slug="nvidia-h100-sxm5-80gb")
for name in ("dgx-07", "dgx-08"):
    results = [gemm("bf16", [0.0014078] * 7)]
    make_report(make_machine(lab, name), cards=[h100(0, sheet)], findings=[warning()], results=results)
make_report(make_machine(make_lab("hidden", is_public=False), "secret-1"))
print(create_key(lab=lab, name="sends")[1], create_key(lab=lab, name="reads", scope="read")[1])
"""


@contextmanager
def running_site(folder: Path) -> Iterator[tuple[Site, str]]:
    """A site with all curated data, a public lab of two machines and a private one; two keys of the public lab, one that
    sends and one that reads.
    """
    shutil.copy(curated_file(), folder / "accelweb.sqlite3")
    site = Site(folder, **UNHURRIED)
    try:
        keys = site.shell(FILL).splitlines()[-1]
        site.start_web()
        yield site, keys
    finally:
        site.stop()


def ask(site: Site, keys: str, *options: str, location: str = "") -> subprocess.CompletedProcess[str]:
    """What schemathesis found, as it prints it. `location`: a file instead of the site's own document."""
    command = [sys.executable, "-m", "schemathesis.cli", "--config-file", str(HERE / "schemathesis.toml"), "run"]
    command += [location or f"{site.url}/api/v1/openapi.json", "--no-color", *options]
    sending, reading = keys.split()
    variables = {"SENDING_KEY": sending, "READING_KEY": reading, "PYTHONPATH": str(ROOT), "NO_COLOR": "1"}
    return subprocess.run(
        command, cwd=site.folder, env=os.environ | variables, text=True, capture_output=True, timeout=3600, check=False
    )
