"""All cited results, and a way to add more."""

from datetime import date

import pytest

from stackviz.records.catalog.models import Accelerator
from stackviz.records.cited.models import CitedResult, CitedSource

LLAMA = {"model": "Llama 2 7B", "quant": "Q4_0", "test": "tg128"}


@pytest.fixture(autouse=True)
def _loaded(db, cited):
    """All cited results."""


@pytest.fixture
def make_result():
    """`make_result(value=..., slug=...)`: one more result of decoding Llama 2 7B; anything may be given."""

    def make(*, slug: str | None = "nvidia-geforce-rtx-4090", **changes) -> CitedResult:
        source, _new = CitedSource.objects.get_or_create(
            key="bench-of-mine", defaults={"title": "A bench", "url": "https://example.org/bench"}
        )
        values = {
            "accelerator": Accelerator.objects.get(slug=slug) if slug else None,
            "reported_name": "RTX 4090",
            "benchmark": "llama-bench",
            "params": LLAMA,
            "value": "190",
            "unit": "token/s",
            "software": {"llama.cpp": "b5000"},
            "date": date(2025, 7, 1),
            "source": source,
        }
        result = CitedResult(**{**values, **changes})
        result.save()
        return result

    return make
