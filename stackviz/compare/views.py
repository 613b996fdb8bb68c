"""The comparison page: `/compare/?a=<subject>&a=<subject>`."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from stackviz.catalog.queries import public_accelerators
from stackviz.compare.assemble import assemble
from stackviz.compare.heads import heading
from stackviz.compare.selection import MOST_SUBJECTS, parse_selection, query_string
from stackviz.compare.subjects import load
from stackviz.web.htmx import vary_on_htmx, wants_partial
from stackviz.web.subjects import comparison_query

# What to offer somebody who has not chosen yet: slugs, kept only as far as the catalogue has them.
SUGGESTED = (
    ("nvidia-h100-sxm5-80gb", "apple-m3-max-40"),
    ("nvidia-geforce-rtx-4090", "apple-m4-max-40"),
    ("nvidia-a100-sxm4-80gb", "nvidia-h100-sxm5-80gb", "nvidia-b200-hgx"),
)


@require_safe
@vary_on_htmx
def page(request: HttpRequest) -> HttpResponse:
    """Two to six subjects side by side. With fewer, what there is and how to add another."""
    selection = parse_selection(request.GET.getlist("a"))
    chosen, refused = load(selection, request.user)
    subjects = [loaded.subject for loaded in chosen]
    only = request.GET.get("only") == "differences"
    comparison = assemble(chosen) if chosen else None
    context = {
        "comparison": comparison,
        "heading": heading(comparison.heads) if comparison else "",
        "refused": refused,
        "most": MOST_SUBJECTS,
        "only_differences": only and len(chosen) > 1,
        "toggle_url": query_string(subjects, only_differences=not only),
        "page_url": request.path + query_string(subjects) if subjects else request.path,
        "suggestions": [] if len(chosen) > 1 else _suggestions(),
    }
    template = "compare/_comparison.html" if wants_partial(request) and chosen else "compare/page.html"
    return render(request, template, context, status=404 if refused and not chosen else 200)


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
