"""A folder of public hosts with one machine, which a test changes where it is about something."""

from collections.abc import Callable
from pathlib import Path

import pytest

from stackviz.records.catalog.models import Accelerator, Vendor
from stackviz.records.hosts.files import CARD_HEADER, COMPONENT_HEADER, HOST_HEADER
from tests.records.cited.conftest import write_csv

HOST = {
    "host": "rtx-4090-desktop-2026-07",
    "title": "RTX 4090, Ubuntu 24.04, driver 580",
    "vendor": "nvidia",
    "form": "desktop",
    "system": "Ubuntu 24.04.4 LTS",
    "kernel": "6.8.0-134-generic",
    "cpu": "AMD Ryzen 9 9950X",
    "cpu_cores": "16",
    "memory_bytes": "68719476736",
    "virtualisation": "",
    "seen_on": "2026-07-25",
    "source_url": "https://github.com/somebody77/rigs/issues/7",
    "source_kind": "issue",
    "note": "",
    "teaches": "",
    "same_machine_as": "",
}
CARD = {
    "host": HOST["host"],
    "index": "0",
    "reported_name": "NVIDIA GeForce RTX 4090",
    "accelerator": "nvidia-geforce-rtx-4090",
    "memory_bytes": "25757220864",
    "driver_version": "580.126.09",
    "power_limit_w": "450",
    "pcie_generation": "4",
    "pcie_lanes": "16",
    "compute_capability": "8.9",
    "gpu_cores": "",
}
COMPONENT = {"host": HOST["host"], "name": "pytorch", "value": "2.10.0+cu128", "state": "installed"}
FACT = {"host": HOST["host"], "name": "torch.cuda_version", "value": "12.8", "state": "installed"}


@pytest.fixture
def folder(tmp_path: Path) -> Callable[..., Path]:
    """`folder(hosts=..., cards=..., components=...)` writes the files; what is not given is one of the above."""

    def write(
        hosts: list[dict[str, str]] | None = None,
        cards: list[dict[str, str]] | None = None,
        components: list[dict[str, str]] | None = None,
    ) -> Path:
        write_csv(tmp_path / "hosts.csv", HOST_HEADER, [HOST] if hosts is None else hosts)
        write_csv(tmp_path / "cards.csv", CARD_HEADER, [CARD] if cards is None else cards)
        lines = [COMPONENT, FACT] if components is None else components
        write_csv(tmp_path / "components.csv", COMPONENT_HEADER, lines)
        return tmp_path

    return write


@pytest.fixture
def rtx_4090(db) -> Accelerator:
    vendor, _new = Vendor.objects.get_or_create(slug="nvidia", name="NVIDIA")
    return Accelerator.objects.create(
        slug="nvidia-geforce-rtx-4090", name="NVIDIA GeForce RTX 4090", vendor=vendor, kind="gpu"
    )
