"""`/benchmarks/<key>/definition/`: what one run of a benchmark is, how it is counted, and a program that repeats it.

Of benchmarks that the agent runs. No queries: all of it is in stackviz/report/measuring.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from stackviz.base.units import format_number, quantity_label
from stackviz.records.catalog.fields import FIELDS
from stackviz.records.cited.words import benchmark_address
from stackviz.records.series.measurement import benchmark_titles, setting_label
from stackviz.report.measuring import RUNNABLE, Benchmark, Params
from stackviz.report.measuring.in_mlx import MLX, cases_on
from stackviz.report.measuring.script import script_of
from stackviz.web.http.address import AddressReader
from stackviz.web.i18n.curated_text import with_code
from stackviz.web.preview import Introduction, make_preview

__all__ = ["definition_page", "urlpatterns"]

# As torch names kinds of devices, and MLX; the titles are names.
DEVICES = {"cuda": "CUDA, ROCm", "mps": "MPS", MLX: "MLX", "xpu": "XPU", "cpu": "CPU"}
MOST_CASES = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingCount:
    """A setting with what one run of it computes and moves; "" for what is not counted.

    `bounds`: titles of the published values that bound it.
    """

    setting: str
    operations: str
    bytes_moved: str
    intensity: str
    bounds: tuple[str, ...]
    is_quick: bool


@dataclass(frozen=True, slots=True)
class DeviceLink:
    """`query`: the address without its path, "" for the device shown."""

    title: str
    query: str


@require_safe
def definition_page(request: HttpRequest, key: str) -> HttpResponse:
    """Raises Http404 for a benchmark that the agent does not run."""
    if key not in RUNNABLE:
        raise Http404
    known = RUNNABLE[key]
    reader = AddressReader(request.GET)
    devices = {kind: title for kind, title in DEVICES.items() if cases_on(known, kind, quick=False)}
    device = reader.choice("device", devices, _("device")) or "cuda"
    cases, quick = (cases_on(known, device, quick=is_quick) for is_quick in (False, True))
    counts = [_count(known, params, is_quick=params in quick) for params in _distinct(known, cases)]
    shown = known.light if known.light in cases else cases[0]  # the case that every plan has on a processor
    title = benchmark_titles()[key, known.version]
    measures = _(known.measures) if known.measures else ""
    context = {
        "known": known,
        "title": title,
        "measures": measures,
        "runs": with_code(_(known.runs)) if known.runs else "",
        "source": with_code(known.source),
        "address": benchmark_address(key),
        "cases": counts[:MOST_CASES],
        "has_operations": any(count.operations for count in counts),
        "has_bytes": any(count.bytes_moved for count in counts),
        "has_intensity": any(count.intensity for count in counts),
        "not_here": _(known.not_on[device]) if device in known.not_on else "",
        "devices": [DeviceLink(text, "" if kind == device else f"device={kind}") for kind, text in devices.items()],
        "script": "" if device in known.not_on else script_of(known, shown, device),
        "is_mlx": device == MLX,
        "command": f"python3 accelweb-agent.pyz bench --only {key}" + (" --device mlx" if device == MLX else ""),
        "script_case": setting_label(shown),
        "bounds": tuple(dict.fromkeys(title for count in counts for title in count.bounds)),
        "notes": reader.notes({"device"}),
        "preview": make_preview(
            request, Introduction(_("%(title)s: definition") % {"title": title}, measures), request.path
        ),
    }
    return render(request, "benchmarks/definition.html", context)


def _distinct(known: Benchmark, cases: Iterable[Params]) -> Iterator[Params]:
    """Yield the first of the cases that are ranked together: the card that a copy goes to makes no setting."""
    settings: list[Mapping[str, Any]] = []
    for params in cases:
        if known.compared(params) not in settings:
            settings.append(known.compared(params))
            yield params


def _count(known: Benchmark, params: Params, *, is_quick: bool) -> SettingCount:
    operations, moved = known.operations(params), known.bytes_moved(params)
    fields = (bound.fields[0] for bound in known.bounds_of(params) if bound.fields)
    return SettingCount(
        setting=setting_label(known.compared(params)),
        operations=quantity_label(operations, "FLOP", digits=4) if operations else "",
        bytes_moved=quantity_label(moved, "B", digits=4) if moved else "",
        intensity=format_number(operations / moved, 3) if operations and moved else "",
        bounds=tuple(str(FIELDS[field].words[0]) for field in fields),
        is_quick=is_quick,
    )


urlpatterns = [path("benchmarks/<slug:key>/definition/", definition_page, name="definition")]
