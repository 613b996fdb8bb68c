"""`/benchmarks/<key>/` of a benchmark that only machines measure: nobody is cited, and the ranking is the page."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from stackviz.pages.benchmarks.introduction import dataset
from stackviz.pages.benchmarks.measured_file import FILE_FORMATS, measured_file
from stackviz.pages.benchmarks.measured_section import measured_section
from stackviz.records.cited.words import benchmark_address
from stackviz.records.series.measured_settings import measured_settings
from stackviz.records.series.measurement import benchmark_titles
from stackviz.records.series.public_runs import measured_edition
from stackviz.report.measuring import BENCHMARKS, RUNNABLE
from stackviz.web.address import AddressReader
from stackviz.web.parts import cached_html, render_part
from stackviz.web.preview import Introduction, Preview, make_preview

CACHE_S = 600  # the key moves with public machines, decisions and sheets


def measured_page(request: HttpRequest, key: str) -> HttpResponse:
    """The page or a file of it. Raises Http404 for a benchmark that nobody defined."""
    if key not in BENCHMARKS:
        raise Http404
    reader = AddressReader(request.GET)
    keys = {setting.key for setting in measured_settings(key)}
    wanted, ending = reader.choice("measured", keys, _("measured setting")), reader.file_format(FILE_FORMATS)
    if ending:
        return measured_file(key, wanted, ending)

    def draw() -> str:
        section = measured_section(key, wanted)
        return render_part(
            "benchmarks/_measured_page.jinja",
            section=section,
            address=benchmark_address(key),
            is_run_by_agent=key in RUNNABLE,
        )

    body = cached_html(("measured", key, wanted, *measured_edition()), draw, CACHE_S)
    known = BENCHMARKS[key]
    title, measures = benchmark_titles()[key, known.version], _(known.measures) if known.measures else ""
    context = {
        "title": title,
        "measures": measures,
        "preview": _preview(request, key, Introduction(title, measures), is_whole=not request.GET),
        "notes": reader.notes({"measured", "format"}),
        "body": body,
    }
    return render(request, "benchmarks/measured.html", context)


def _preview(request: HttpRequest, key: str, introduction: Introduction, *, is_whole: bool) -> Preview:
    """With a `Dataset` for the benchmark's own address, once a machine has measured it."""
    settings = measured_settings(key) if is_whole else ()
    url = request.build_absolute_uri(request.path)
    units = tuple(dict.fromkeys(setting.unit for setting in settings))
    data = dataset(introduction.title, introduction.answer, url, units) if settings else ()
    return make_preview(request, introduction, request.path, data=data)
