"""The comparison page: `/compare/?a=<subject>&a=<subject>`."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from stackviz.catalog.models import CatalogueEdition
from stackviz.catalog.queries import public_accelerators
from stackviz.compare.assemble import assemble
from stackviz.compare.heads import heading, heads_of
from stackviz.compare.selection import MOST_SUBJECTS, parse_selection, query_string
from stackviz.compare.subjects import Loaded, load
from stackviz.stacks.models import Edition
from stackviz.web.fragments import kept
from stackviz.web.htmx import vary_on_htmx, wants_partial
from stackviz.web.subjects import comparison_query

# What to offer somebody who has not chosen yet: slugs, kept only as far as the catalogue has them.
SUGGESTED = (
    ("nvidia-h100-sxm5-80gb", "apple-m3-max-40"),
    ("nvidia-geforce-rtx-4090", "apple-m4-max-40"),
    ("nvidia-a100-sxm4-80gb", "nvidia-h100-sxm5-80gb", "nvidia-b200-hgx"),
)

# A report that is read again, or cards that find their sheet, may show this late.
KEPT_S = 60


@require_safe
@vary_on_htmx
def page(request: HttpRequest) -> HttpResponse:
    """Two to six subjects side by side. With fewer, what there is and how to add another."""
    selection = parse_selection(request.GET.getlist("a"))
    chosen, refused = load(selection, request.user)
    subjects = [loaded.subject for loaded in chosen]
    only = request.GET.get("only") == "differences"
    context = {
        "heading": heading(heads_of(chosen)) if chosen else "",
        "refused": refused,
        "most": MOST_SUBJECTS,
        "only_differences": only and len(chosen) > 1,
        "toggle_url": query_string(subjects, only_differences=not only),
        "page_url": request.path + query_string(subjects) if subjects else request.path,
        "suggestions": [] if len(chosen) > 1 else _suggestions(),
    }
    if not chosen:
        return render(request, "compare/page.html", context, status=404 if refused else 200)
    drawn = _drawn(chosen, context)
    if wants_partial(request):
        return HttpResponse(drawn)
    return render(request, "compare/page.html", {**context, "drawn": drawn})


def _drawn(chosen: Sequence[Loaded], context: Mapping[str, Any]) -> SafeString:
    """The comparison as HTML, kept until a subject reports anew or something curated moves.

    Who may see the subjects was asked when they were loaded; what is drawn of them is the same for everybody.
    """
    reported = tuple((loaded.url, loaded.title, loaded.snapshot and loaded.snapshot.pk) for loaded in chosen)
    shown = (context["page_url"], context["only_differences"], context["refused"])
    state = ("comparison", shown, reported, CatalogueEdition.current(), Edition.current())
    return kept(
        state,
        lambda: render_to_string("compare/_comparison.html", {**context, "comparison": assemble(chosen)}),
        KEPT_S,
    )


def _suggestions() -> list[dict[str, str]]:
    """Comparisons worth a first look, by name. One query."""
    slugs = {slug for group in SUGGESTED for slug in group}
    names = dict(public_accelerators().filter(slug__in=slugs).values_list("slug", "name"))
    return [
        {
            "title": " · ".join(names[slug] for slug in group),
            "url": f"?{comparison_query(group)}",
        }
        for group in SUGGESTED
        if all(slug in names for slug in group)
    ]
