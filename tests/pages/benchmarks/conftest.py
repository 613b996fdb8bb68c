"""All cited results, a way to add more, and a public machine that measured."""

from datetime import date

import pytest
from django.core.cache import cache

from stackviz.records.catalog.models import Accelerator
from stackviz.records.cited.models import CitedResult, CitedSource
from tests.pages.machines.factories import DGX_FACTS, copy, gemm, h100, make_lab, make_machine, make_report

LLAMA = {"model": "Llama 2 7B", "quant": "Q4_0", "test": "tg128"}


@pytest.fixture(autouse=True)
def _loaded(db, cited):
    """All cited results; pages of earlier tests are forgotten."""
    cache.clear()


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


@pytest.fixture
def dgx():
    """An H100 of a public lab that measured 780 TFLOP/s in bf16 and 2.98 TB/s."""
    card = h100(0, Accelerator.objects.get(slug="nvidia-h100-sxm5-80gb"))
    results = [gemm("bf16", [0.00141, 0.00142, 0.001405, 0.001415]), copy([0.00288, 0.00287, 0.00289, 0.002885])]
    return make_report(make_machine(make_lab("north"), "dgx-07"), facts=DGX_FACTS, cards=[card], results=results)
