"""The ranking of a measured benchmark as CSV and JSON."""

from django.http import HttpResponse

from stackviz.pages.benchmarks.files import HEADER, cells
from stackviz.pages.benchmarks.measured_rows import measured_rows
from stackviz.report.measuring import BENCHMARKS
from stackviz.web.download import csv_response, json_response

FILE_FORMATS = ("csv", "json")
_MEASURED_ONLY = ("low", "high", "best_by", "runs", "machines", "lowest", "median", "highest")


def measured_file(key: str, wanted: str, ending: str) -> HttpResponse:
    """The setting that the page shows, as `ending` says."""
    rows, name = measured_rows(key, wanted), f"benchmark {key}"
    if ending == "csv":
        header = (*HEADER, *_MEASURED_ONLY)
        return csv_response(name, header, [[*cells(row), *(row[column] for column in _MEASURED_ONLY)] for row in rows])
    known = BENCHMARKS[key]
    document = {"benchmark": key, "title": known.title, "version": known.version, "kind": "measured", "measured": rows}
    return json_response(name, document)
