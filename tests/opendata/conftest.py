"""The curated catalogue and stacks, a public and a private lab, and a folder for dumps that is a test's own."""

from pathlib import Path

import pytest

from stackviz.catalog.models import Accelerator
from tests.machines.factories import DGX_FACTS, copy, gemm, h100, make_lab, make_machine, make_report

SECRET = "sealed-chamber"  # in everything the private lab has: no byte of a dump may hold it


@pytest.fixture(autouse=True)
def data_dir(settings, tmp_path) -> Path:
    settings.DATA_DIR = tmp_path / "data"
    return settings.DATA_DIR


@pytest.fixture
def labs(curated, db):
    """A public lab whose machine has two cards and three results, and a private one with the same under secret names."""
    sheet = Accelerator.objects.get(slug="nvidia-h100-sxm5-80gb")
    results = [gemm("bf16", [0.00141] * 8), copy([0.0026] * 8), gemm("fp8", [], state="failed", reason="no kernel")]
    for slug, name, is_public in (("north", "dgx-07", True), (f"{SECRET}-lab", f"{SECRET}-box", False)):
        lab = make_lab(slug, is_public=is_public)
        machine = make_machine(lab, name)
        said = "=1+1" if is_public else SECRET
        make_report(
            machine,
            facts=DGX_FACTS | {"cpu.model": said, "odd.text": "half \ud83d"},
            cards=[h100(0, sheet), h100(1, None, serial=said)],
            results=results,
        )
    return make_lab("empty")
