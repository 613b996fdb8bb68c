"""What agents counted on machines: how many of torch's operators have a kernel of their own there."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import F
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from stackviz.labs.queries import Visitor, visible_machines
from stackviz.rules.versions import numbers
from stackviz.web.htmx import vary_on_htmx, wants_partial

MOST_MACHINES = 50  # the newest: so that the page costs the same however many there are


@dataclass(frozen=True, slots=True)
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
    """Newest torch first, builds that counted alike together. One query."""
    machines = visible_machines(visitor).filter(latest_snapshot__isnull=False)
    newest = machines.order_by(F("latest_taken_at").desc(), "pk").values_list("latest_snapshot__facts", flat=True)
    counted = Counter(
        _row(facts) for facts in newest[:MOST_MACHINES] if facts.get("torch.version") and facts.get("torch.operators")
    )
    rows = [replace(row, machines=machines) for row, machines in counted.items()]
    return sorted(rows, key=lambda row: (numbers(row.torch), row.torch), reverse=True)


def _row(facts: Mapping[str, Any]) -> CountedRow:
    return CountedRow(
        str(facts["torch.version"]),
        facts["torch.operators"],
        facts.get("torch.kernels_cpu"),
        facts.get("torch.kernels_cuda"),
        facts.get("torch.kernels_mps"),
    )


@require_safe
@vary_on_htmx
def coverage(request: HttpRequest) -> HttpResponse:
    """A table; for htmx the table alone, to stand on the page of the operators."""
    template = "machines/_coverage.html" if wants_partial(request) else "machines/coverage.html"
    return render(request, template, {"rows": counted_rows(request.user), "most": MOST_MACHINES})
