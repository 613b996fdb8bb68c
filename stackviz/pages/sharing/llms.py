"""`/llms.txt`: the site for language models, what it holds and where it is written for programs (llmstxt.org)."""

from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.views.decorators.http import require_safe

from stackviz.records.catalog.queries import public_catalogue
from stackviz.records.cited.registry import CITED_BENCHMARKS
from stackviz.records.stacks.queries import public_stacks

TEXT = """\
# accelweb

> Accelerator stacks, from silicon to PyTorch: {accelerators} spec sheets in which every value has its source
> and condition, software stacks layer by layer, and {benchmarks} benchmarks with cited and measured results.
> Published, probed, measured, cited and derived figures are never mixed. An unknown value is null with a
> reason, never 0.

Every page can be read without JavaScript. Prefer the API and the data files to pages: they hold the same
figures, with units, conditions and sources. Pages exist in English and, below `/zh-hans/`, in
[Simplified Chinese]({site}/zh-hans/); files and the API are English.

## For programs

- [HTTP API]({site}/api/v1/docs/): no key is needed to read; the document is
  [openapi.json]({site}/api/v1/openapi.json)
- [Data files]({site}/data/): all public tables as JSON Lines, CSV and, where it is installed, Parquet,
  written each night
- [Schema of the tables]({site}/data/schema/)
- [Changes]({site}/changes/?format=json): every correction, as JSON; `/changes/feed/` is RSS

## Pages

- [Accelerators]({site}/accelerators/): `/accelerators/<slug>/` is a spec sheet; `?format=json` and
  `?format=csv` its files
- [Comparison]({site}/compare/): `/compare/?a=<slug>&a=<slug>` of two to six; `&format=json|csv|md`
- [Benchmarks]({site}/benchmarks/): `/benchmarks/<key>/` ranks accelerators like for like; `?format=json|csv`
- [Does it fit?]({site}/fit/): memory and speed of language models on accelerators
- [Plan]({site}/plan/): which builds of PyTorch, drivers and Pythons fit an accelerator
- [Diagnose]({site}/diagnose/): what is wrong with a stack, from the output of tools
- [Error messages]({site}/causes/): what each means, its causes and how to fix it
- [Glossary]({site}/learn/)
- [Claims checked]({site}/claims/): widely copied statements against the sources; `?format=json`

## Stacks

{stacks}
## Optional

- [All pages]({site}/sitemap.xml)
"""


@require_safe
def llms(request: HttpRequest) -> HttpResponse:
    """In English, which is what the data is written in."""
    site = request.build_absolute_uri("/").rstrip("/")
    stacks = "\n".join(f"- [{stack.name}]({site}{stack.get_absolute_url()})" for stack in public_stacks())
    counts = {"accelerators": len(public_catalogue().accelerators), "benchmarks": len(CITED_BENCHMARKS)}
    text = TEXT.format(site=site, stacks=stacks, **counts)
    return HttpResponse(text, content_type="text/plain; charset=utf-8")


urlpatterns = [path("llms.txt", llms, name="llms")]
