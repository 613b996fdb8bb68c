"""What agents counted on machines: how many of torch's operators have a kernel of their own there."""

from collections import Counter
from dataclasses import dataclass, replace

from django.db.models import F
from django.db.models.fields.json import KeyTransform
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from stackviz.records.labs.queries import Visitor, visible_machines
from stackviz.report.rules.versions import numbers
from stackviz.web.htmx import vary_on_htmx, wants_partial

MOST_MACHINES = 500  # that reported last: so that the page costs the same however many there are
_NAMES = ("torch.version", "torch.operators", "torch.kernels_cpu", "torch.kernels_cuda", "torch.kernels_mps")


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedRow:
    """One build of torch with what was counted in it; None where this build has no such device.

    `machines`: how many of the newest machines counted the same.
    """

    torch: str
    operators: int
    cpu: int | None
    cuda: int | None
    mps: int | None
    machines: int = 1


def counted_rows(visitor: Visitor) -> list[CountedRow]:
    """Newest torch first, builds that counted alike together. One query, which reads these five facts alone."""
    reported = visible_machines(visitor).filter(latest_snapshot__isnull=False)
    newest = reported.order_by(F("latest_taken_at").desc(), "pk")[:MOST_MACHINES]
    facts = [KeyTransform(name, "latest_snapshot__facts") for name in _NAMES]
    counted = Counter(
        CountedRow(torch=torch, operators=operators, cpu=cpu, cuda=cuda, mps=mps)
        for torch, operators, cpu, cuda, mps in newest.values_list(*facts)
        if torch and operators
    )
    rows = [replace(row, machines=machines) for row, machines in counted.items()]
    return sorted(rows, key=lambda row: (numbers(row.torch), row.torch), reverse=True)


@require_safe
@vary_on_htmx
def coverage(request: HttpRequest) -> HttpResponse:
    """A table; for htmx the table alone, to stand on the page of the operators."""
    template = "machines/_coverage.html" if wants_partial(request) else "machines/coverage.html"
    return render(request, template, {"rows": counted_rows(request.user), "most": MOST_MACHINES})
