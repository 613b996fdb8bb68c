"""A small catalogue and the stacks, a public and a private lab, and a folder for dumps that is a test's own."""

from pathlib import Path

import pytest

from stackviz.records.catalog.models import Accelerator
from stackviz.records.cited.models import CitedResult, CitedSource
from tests.pages.machines.factories import DGX_FACTS, copy, gemm, h100, make_lab, make_machine, make_report
from tests.records.hosts.factories import add_host, card_fields

SECRET = "sealed-chamber"  # in everything the private lab has: no byte of a dump may hold it


@pytest.fixture(autouse=True)
def data_dir(settings, tmp_path) -> Path:
    settings.DATA_DIR = tmp_path / "data"
    return settings.DATA_DIR


@pytest.fixture
def labs(small_catalogue, db):
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
    make_cited(sheet)
    make_hosts(sheet)
    return make_lab("empty")


def make_cited(sheet: Accelerator) -> None:
    """A cited result in each state; the dump has all but the withdrawn one."""
    source = CitedSource.objects.create(key="board", title="A scoreboard", url="https://example.org/board")
    for state, accelerator, reason in (
        ("public", sheet, ""),
        ("unmatched", None, ""),
        ("doubtful", sheet, "above the published peak"),
        ("withdrawn", sheet, SECRET),
    ):
        CitedResult.objects.create(
            accelerator=accelerator, reported_name="H100", benchmark="gemm", params={"dtype": "bf16", "m": 8192},
            value="612.5", unit="TFLOP/s", software={"cuda": "12.6"}, source=source, state=state, reason=reason,
        )  # fmt: skip


def make_hosts(sheet: Accelerator) -> None:
    """A public host, and one each that is proposed and withdrawn, with the secret in all they have."""
    add_host(
        sheet.vendor, title="H100 server", form="server", cards=[card_fields(sheet, power_limit_w=700.0)],
        components={"pytorch": "2.10.0+cu128", "triton": None},
    )  # fmt: skip
    for state in ("proposed", "withdrawn"):
        add_host(
            sheet.vendor, title=f"{SECRET} {state}", state=state, reason=SECRET, cards=[{"reported_name": SECRET}],
            components={"pytorch": SECRET},
        )  # fmt: skip
