"""The address of a machine that was merged into another leads there, for those who may see it."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.db.models import F, Q
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from stackviz.records.labs.models import Machine
from stackviz.records.labs.queries import machine_merged_into
from stackviz.records.series.models import Series

View = Callable[..., HttpResponse]


def follows_merges(view: View) -> View:
    """A view of `lab` and `slug` that sends readers on instead of answering 404; not for good, as merges are undone."""

    @wraps(view)
    def answer(request: HttpRequest, lab: str, slug: str, **more: Any) -> HttpResponse:  # noqa: ANN401 - of the address
        try:
            return view(request, lab, slug, **more)
        except Http404:
            new = _new_address(request, lab, slug, more) if request.method in ("GET", "HEAD") else ""
            if not new:
                raise
        return HttpResponseRedirect(new)

    return answer


def _new_address(request: HttpRequest, lab: str, slug: str, more: dict[str, Any]) -> str:
    """ "" where nothing was merged. Two queries at most."""
    pair = machine_merged_into(request.user, lab, slug)
    if pair is None or request.resolver_match is None:
        return ""
    merged, target = pair
    if "series_id" in more:
        series = _same_setting(more["series_id"], merged, target)
        if series is None:
            return target.get_absolute_url()
        more = {**more, "series_id": series}
    address = reverse(request.resolver_match.view_name, kwargs={"lab": lab, "slug": target.slug, **more})
    query = request.META.get("QUERY_STRING", "")
    return f"{address}?{query}" if query else address


def _same_setting(series_id: int, merged: Machine, target: Machine) -> int | None:
    """The series of `target` with the setting of this series of `merged`. One query."""
    same_card = Q(card_index=F("machine__merged__series__card_index")) | Q(
        card_index__isnull=True, machine__merged__series__card_index__isnull=True
    )
    rows = Series.objects.filter(
        same_card,
        machine=target,
        machine__merged=merged,
        machine__merged__series=series_id,
        params_key=F("machine__merged__series__params_key"),
        benchmark=F("machine__merged__series__benchmark"),
        version=F("machine__merged__series__version"),
        device=F("machine__merged__series__device"),
    )
    return rows.values_list("pk", flat=True).first()
