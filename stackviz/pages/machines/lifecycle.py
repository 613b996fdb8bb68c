"""Until when a machine is supported: a fragment of its page, fetched apart since it judges the machine anew."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from stackviz.records.labs.models import Machine
from stackviz.records.labs.queries import as_report, machine_detail
from stackviz.records.stacks.lifecycle import life_table
from stackviz.web.htmx import vary_on_htmx, wants_partial
from stackviz.web.parts import render_part


@require_safe
@vary_on_htmx
def life(request: HttpRequest, lab: str, slug: str) -> HttpResponse:
    """As of today. For htmx the table alone; a machine that has reported nothing has none."""
    try:
        detail = machine_detail(request.user, lab, slug)
    except Machine.DoesNotExist as error:
        raise Http404 from error
    if detail.snapshot is None:
        raise Http404
    table = life_table(as_report(detail.snapshot, detail.cards, timezone.now()))
    if wants_partial(request):
        return HttpResponse(render_part("stacks/_life.jinja", life=table))
    context = {"life": table, "machine": detail.machine}
    return render(request, "machines/life.html", context)
