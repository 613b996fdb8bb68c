"""`/benchmarks/like-for-like/?accelerator=&accelerator=`: every setting behind the factors of a comparison.

What two accelerators share is compared setting by setting, so that each mean can be computed again.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from stackviz.base.units import format_factor, quantity_label
from stackviz.pages.benchmarks.files import FILE_FORMATS
from stackviz.records.catalog.models import Accelerator
from stackviz.records.catalog.queries import public_catalogue
from stackviz.records.cited.best import LikeForLike, SharedSetting, like_for_like
from stackviz.records.cited.cases import CitedCase, benchmark_cases
from stackviz.records.cited.registry import CITED_BENCHMARKS
from stackviz.records.cited.words import benchmark_address, setting_text
from stackviz.web.http.address import AddressReader
from stackviz.web.http.download import attributes, table_file
from stackviz.web.http.errors import refuse_notes
from stackviz.web.http.formats import serves_formats

__all__ = ["like_for_like_page", "urlpatterns"]

_COLUMNS = attributes("work", "benchmark", "setting", "devices", "first", "second", "unit", "ratio")


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingRow:
    """One shared setting of a page or a file. `first`, `second`: amounts in `unit`; `devices`: "" for one's share."""

    work: str
    benchmark: str
    setting: str
    url: str
    devices: str
    first: float
    second: float
    unit: str
    ratio: float

    @property
    def labels(self) -> tuple[str, str, str]:
        return (
            quantity_label(self.first, self.unit),
            quantity_label(self.second, self.unit),
            format_factor(self.ratio),
        )


@require_safe
@serves_formats(*FILE_FORMATS)
def like_for_like_page(request: HttpRequest) -> HttpResponse:
    """Return the shared settings of two accelerators as a page or, with `format=csv` or `json`, as a file.

    A file of other than two known accelerators is refused with 422.
    """
    reader = AddressReader(request.GET)
    by_slug = public_catalogue().by_slug
    slugs = reader.choices("accelerator", by_slug, _("accelerator"))
    if len(slugs) > 2:
        reader.note("accelerator", _("Two accelerators are compared: the first two"))
    chosen = [by_slug[slug] for slug in slugs[:2]]
    ending = reader.text("format")
    shared = like_for_like(*(accelerator.pk for accelerator in chosen)) if len(chosen) == 2 else ()
    if ending and len(chosen) < 2:
        reader.note("accelerator", _("A file compares two accelerators: name both"))
        return refuse_notes(reader.notes({"accelerator", "format"}))
    if ending:
        return table_file(_file_name(chosen), _COLUMNS, setting_rows(shared), ending)
    context = {
        "notes": reader.notes({"accelerator", "format"}),
        "accelerators": chosen,
        "sections": [(item, format_factor(item.ratio), _rows_of(item)) for item in shared],
        "query": "&".join(f"accelerator={item.slug}" for item in chosen),
    }
    return render(request, "benchmarks/like_for_like.html", context)


def setting_rows(shared: Sequence[LikeForLike]) -> list[SettingRow]:
    """Return a row for each setting of each benchmark of each kind of work."""
    return [row for item in shared for row in _rows_of(item)]


def _rows_of(item: LikeForLike) -> list[SettingRow]:
    """Return the rows of one kind of work, those of a benchmark in the order of their settings."""
    rows = [
        _setting_row(item.label, setting)
        for benchmark in item.benchmarks
        for setting in benchmark.settings
        if setting.key.params_key in benchmark_cases(setting.key.benchmark).cases
    ]
    return sorted(rows, key=lambda row: (row.benchmark, _by_numbers(row.setting)))


def _by_numbers(text: str) -> list[str | int]:
    """Return a key that sorts tg512 before tg1024."""
    return [int(part) if part.isdecimal() else part for part in re.split(r"(\d+)", text)]


def _setting_row(work: str, setting: SharedSetting) -> SettingRow:
    key = setting.key
    benchmark = CITED_BENCHMARKS[key.benchmark]
    case: CitedCase = benchmark_cases(key.benchmark).cases[key.params_key]
    text = setting_text(benchmark, benchmark.compared_params(case.params))
    return SettingRow(
        work=work,
        benchmark=str(benchmark.title),
        setting=" · ".join(filter(None, (text, key.regime))),
        url=f"{benchmark_address(key.benchmark)}?case={key.params_key}",
        devices=str(key.devices or ""),
        first=setting.first,
        second=setting.second,
        unit=case.si,
        ratio=setting.ratio,
    )


def _file_name(chosen: Sequence[Accelerator]) -> str:
    return "like for like " + " ".join(item.slug for item in chosen)


urlpatterns = [path("benchmarks/like-for-like/", like_for_like_page, name="like_for_like")]
