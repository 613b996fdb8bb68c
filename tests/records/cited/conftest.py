"""A folder of cited results with two lines, which a test changes where it is about something."""

from collections.abc import Callable
from pathlib import Path

import pytest

from stackviz.records.catalog.models import Accelerator, Alias, Vendor
from stackviz.records.cited.files import HEADER, SOURCE_HEADER

SOURCE = {
    "key": "scoreboard",
    "title": "A scoreboard",
    "url": "https://example.org/scoreboard",
    "kind": "community",
    "licence": "MIT",
    "read_in": "",
}
LINE = {
    "accelerator": "nvidia-geforce-rtx-4090",
    "reported_name": "RTX 4090",
    "count": "1",
    "params": "model=Llama 2 7B; quant=Q4_0; test=tg128",
    "value": "189.05",
    "unit": "token/s",
    "software": "llama.cpp=b5000",
    "date": "2025-07-01",
    "source": "scoreboard",
    "doubt": "",
    "note": "",
}
OTHER = LINE | {"params": "model=Llama 2 7B; quant=Q4_0; test=pp512", "value": "13944.43"}


def write_csv(path: Path, header: list[str], lines: list[dict[str, str]]) -> None:
    quoted = [",".join(f'"{line[name]}"' for name in header) for line in lines]
    path.write_text("\n".join([",".join(header), *quoted]) + "\n")


@pytest.fixture
def folder(tmp_path: Path) -> Callable[..., Path]:
    """`folder(lines, benchmark=..., sources=...)` writes the files; without lines the two above."""

    def write(
        lines: list[dict[str, str]] | None = None,
        *,
        benchmark: str = "llama-bench",
        sources: list[dict[str, str]] | None = None,
    ) -> Path:
        (tmp_path / "results").mkdir(exist_ok=True)
        write_csv(tmp_path / "sources.csv", SOURCE_HEADER, [SOURCE] if sources is None else sources)
        write_csv(tmp_path / "results" / f"{benchmark}.csv", HEADER, [LINE, OTHER] if lines is None else lines)
        return tmp_path

    return write


@pytest.fixture
def rtx_4090(db) -> Accelerator:
    vendor, _new = Vendor.objects.get_or_create(slug="nvidia", name="NVIDIA")
    sheet = Accelerator.objects.create(
        slug="nvidia-geforce-rtx-4090", name="NVIDIA GeForce RTX 4090", vendor=vendor, kind="gpu"
    )
    Alias.objects.create(accelerator=sheet, name="NVIDIA GeForce RTX 4090")
    return sheet
