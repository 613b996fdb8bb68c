"""`/hosts/<slug>/`: a machine that its owner described in public, as a machine's page shows it. Nothing is guessed."""

from collections.abc import Mapping
from html import unescape
from http import HTTPStatus

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.functional import Promise
from django.utils.html import escape
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from stackviz.base.units import quantity_label
from stackviz.draw.diagrams.boxes import StackColumn
from stackviz.draw.diagrams.columns import drop_unreported_rows
from stackviz.draw.diagrams.layers import State
from stackviz.draw.diagrams.stack import draw_columns
from stackviz.draw.diagrams.svg import svg_of
from stackviz.intake.report_parts.cards import card_kinds
from stackviz.intake.report_parts.hosts import host_column, judged_host, layer_of_software
from stackviz.intake.report_parts.present import (
    JudgedReport,
    PresentedReport,
    component_names,
    described_stacks,
    present,
)
from stackviz.pages.machines.host_days import other_days
from stackviz.pages.machines.host_results import (
    best_known,
    doubtful_rows,
    headline_words,
    host_result_groups,
    peer_results,
    results_of,
    setting_pairs,
)
from stackviz.records.catalog.models import Accelerator, CatalogueEdition
from stackviz.records.catalog.queries import peaks, usual_peak
from stackviz.records.cited.host_bounds import host_share_text, peaks_of_results
from stackviz.records.cited.models import CitedEdition, CitedResult
from stackviz.records.cited.queries import Published
from stackviz.records.hosts.alike import hosts_that_may_be_alike, likeness, most_alike, traits_of
from stackviz.records.hosts.models import Host, HostComponent, HostEdition
from stackviz.records.hosts.queries import host_named
from stackviz.records.hosts.software import OTHER_SOFTWARE
from stackviz.records.stacks.models import Edition
from stackviz.records.stacks.reported import stack_slug
from stackviz.web.http.download import svg_response
from stackviz.web.http.formats import serves_formats
from stackviz.web.parts import cached_parts, render_part
from stackviz.web.preview import Introduction, make_preview

__all__ = ["host_page", "host_sentence"]

CACHE_S = 3600  # the key moves with everything the page shows
_HEADLINE = ("cpu.model", "memory.total_bytes", "os.name", "nvidia.driver_version", "torch.version", "python.version")
_MACHINES = {
    "desktop": gettext_lazy("A desktop with %(parts)s."),
    "laptop": gettext_lazy("A laptop with %(parts)s."),
    "mini": gettext_lazy("A mini computer or board with %(parts)s."),
    "server": gettext_lazy("A server with %(parts)s."),
    "cloud": gettext_lazy("A cloud instance with %(parts)s."),
    "": gettext_lazy("A machine with %(parts)s."),
}
_WANTED: Mapping[str, str | Promise] = {
    "cpu.model": gettext_lazy("processor"),
    "memory.total_bytes": gettext_lazy("main memory"),
    "os.name": gettext_lazy("operating system"),
    "os.version": gettext_lazy("release of the system"),
    "os.kernel": gettext_lazy("kernel"),
    "python.version": gettext_lazy("Python"),
    "torch.version": gettext_lazy("PyTorch"),
}
_WANTED_ON_NVIDIA: Mapping[str, str | Promise] = {
    "nvidia.driver_version": gettext_lazy("driver"),
    "cuda.driver_api_version": gettext_lazy("CUDA of the driver"),
}
_WANTED_OF_CARDS: Mapping[str, str | Promise] = {
    "power_limit_w": gettext_lazy("power limit"),
    "pcie_width": gettext_lazy("PCIe lanes"),
}
_POWER_TOLERANCE_W = 1.0  # limits are rounded
_MOST_SOFTWARE = 4  # in the sentence
_MINOR = frozenset({"python", "nvidia-smi", "npu-smi", "linux-firmware", "torchvision", "torchaudio", "transformers"})
_SYSTEMS = frozenset({"linux", "windows", "macos", "wsl", "cuda-driver-api", "cuda-runtime"})


@require_safe
@serves_formats("svg")
def host_page(request: HttpRequest, slug: str) -> HttpResponse:
    """Show one public host; `?format=svg` is its stack as a file.

    One that never was public does not exist; of a withdrawn one the page says why, with 410.
    """
    host = host_named(slug)
    if host is None:
        return _withdrawn(request, slug)
    if request.GET.get("format") == "svg":
        note = f"{request.build_absolute_uri(host.get_absolute_url())} · {day_of(host)}"
        column = _presented(host, judged_host(host)).column
        drawing = draw_columns(drop_unreported_rows([column])[0])
        return svg_response(f"stack-{host.slug}", svg_of(drawing, host.title, note))
    editions = (HostEdition.current(), CitedEdition.current(), CatalogueEdition.current(), Edition.current())
    answer, body = cached_parts(("host", host.pk, *editions), lambda: _drawn_host(host), CACHE_S)
    preview = make_preview(request, Introduction(host.title, unescape(answer)), request.path)
    context = {"host": host, "day": day_of(host), "answer": answer, "body": body, "preview": preview}
    return render(request, "machines/host.html", context)


def _withdrawn(request: HttpRequest, slug: str) -> HttpResponse:
    host = Host.objects.filter(slug=slug, state=Host.State.WITHDRAWN).first()
    if host is None or not host.history.filter(state=Host.State.PUBLIC).exists():
        raise Http404(_("There is no public host “%(slug)s”.") % {"slug": slug})
    return render(request, "machines/host_withdrawn.html", {"host": host}, status=HTTPStatus.GONE)


def day_of(host: Host) -> str:
    """`2026-07-25`, or `2026-07` where the source names the month."""
    return f"{host.seen_on:%Y-%m}" if host.is_month_only else f"{host.seen_on:%Y-%m-%d}"


# --- what the page shows ---


def _drawn_host(host: Host) -> tuple[str, str]:
    """(the sentence, the body) as HTML. At most nine queries beside those of the tables, whatever is stored."""
    judged = judged_host(host)
    results, doubtful = results_of(host)
    published = peaks_of_results(results)
    report = _presented(host, judged)
    columns, not_drawn = drop_unreported_rows([report.column])
    best = best_known(results)
    answer = host_sentence(host, judged, best, published)
    sheets = list(dict.fromkeys(card.sheet for card in judged.cards if card.sheet))
    body = render_part(
        "machines/_host.jinja",
        host=host,
        report=report,
        card_kinds=card_kinds(judged.cards),
        best=_best_tile(best, published),
        drawing=draw_columns(columns),
        not_drawn=not_drawn,
        layers=_stated_layers(report.column),
        groups=host_result_groups(results, published),
        pairs=setting_pairs(results),
        days=other_days(host, results),
        doubtful=doubtful_rows(doubtful),
        peers=peer_results(host, results),
        sheets=sheets,
        alike=_alike(host),
        power=_power_notes(judged),
        absent=_absent_software(host),
        unstated=_unstated(judged),
    )
    return escape(answer), body


def _presented(host: Host, judged: JudgedReport) -> PresentedReport:
    facts = judged.report.facts
    [described] = described_stacks([stack_slug(facts, (card.vendor for card in judged.report.cards))])
    names = component_names([judged.report])
    column = host_column(host, judged, described, names)
    return present(judged, column, names=names, first=[name for name in _HEADLINE if name in facts])


def host_sentence(
    host: Host, judged: JudgedReport, best: CitedResult | None, published: Mapping[int, Published]
) -> str:
    """What it is, what it runs and its best-known figure, in words."""
    facts = judged.report.facts
    memory = facts.get("memory.total_bytes")
    parts = [kind.label for kind in card_kinds(judged.cards)]
    parts += [host.cpu] if host.cpu and not any(part.startswith(host.cpu) for part in parts) else []
    if isinstance(memory, int):
        parts.append(_("%(size)s of memory") % {"size": quantity_label(memory, "B", binary=True, digits=3)})
    sentences = [str(_MACHINES[host.form]) % {"parts": ", ".join(parts)}]
    if software := _software_words(judged):
        sentences.append(_("It runs %(software)s.") % {"software": ", ".join(software)})
    if best is not None:
        rate, what = headline_words(best)
        share = host_share_text(best, published)
        words = {"rate": rate, "what": what, "share": share}
        template = _("Best-known figure: %(rate)s (%(what)s).")
        template = _("Best-known figure: %(rate)s, %(share)s of its bound (%(what)s).") if share else template
        sentences.append(template % words)
    return " ".join(sentences)


def _software_words(judged: JudgedReport) -> list[str]:
    """The system and the first programs that are named: `Ubuntu 24.04.4, vLLM 0.25.1`."""
    facts = judged.report.facts
    system = " ".join(str(facts[name]) for name in ("os.name", "os.version") if name in facts)
    names = component_names([judged.report])
    titles = {**OTHER_SOFTWARE, **names}
    listed = sorted(judged.report.software, key=lambda item: _rank_in_words(item.component))
    programs = [
        f"{titles.get(item.component, item.component)} {item.version or ''}".strip()
        for item in listed
        if item.component not in _SYSTEMS
    ]
    return [*([system] if system else []), *programs[:_MOST_SOFTWARE]]


def _rank_in_words(component: str) -> int:
    """What runs models comes first, then frameworks and the driver; tools and small libraries last."""
    order = ("application", "framework", "driver", "platform")
    layer = "" if component in _MINOR else layer_of_software(component)
    return order.index(layer) if layer in order else len(order)


def _best_tile(best: CitedResult | None, published: Mapping[int, Published]) -> tuple[str, str, str] | None:
    """(rate, share of its bound or "", what it is of) of the best-known result."""
    if best is None:
        return None
    rate, what = headline_words(best)
    return rate, host_share_text(best, published), what


def _stated_layers(column: StackColumn) -> int:
    """How many of the eight layers the source says something of."""
    return len({box.layer for box in column.boxes if box.state not in (State.UNKNOWN, State.ABSENT)})


def _power_notes(judged: JudgedReport) -> list[str]:
    """What was set below the power that the vendor publishes, each kind of card once."""
    notes = []
    for card in judged.cards:
        limit = card.reported.facts.get("power_limit_w")
        published = _published_power(card.sheet) if card.sheet else None
        if isinstance(limit, int | float) and published and limit < published - _POWER_TOLERANCE_W:
            words = {
                "limit": f"{limit:g}",
                "published": f"{published:g}",
                "name": card.sheet.name if card.sheet else "",
            }
            notes.append(_("%(name)s: power limit %(limit)s W, the vendor publishes %(published)s W.") % words)
    return list(dict.fromkeys(notes))


def _published_power(sheet: Accelerator) -> float | None:
    """Watts of the board as its vendor publishes it."""
    power = usual_peak(peaks([sheet.pk]), sheet.pk, "tdp_w")
    return power[1] if power else None


def _absent_software(host: Host) -> list[str]:
    rows = [row for row in host.components.all() if row.state == HostComponent.State.ABSENT]
    return [OTHER_SOFTWARE.get(row.name, row.name) for row in rows]


def _unstated(judged: JudgedReport) -> list[str]:
    """What one would like to know and the source does not say, in words."""
    report = judged.report
    vendors = {card.vendor for card in report.cards}
    wanted = {**_WANTED, **(_WANTED_ON_NVIDIA if "nvidia" in vendors else {})}
    unstated = [title for name, title in wanted.items() if name not in report.facts and name not in report.absent]
    if "apple" not in vendors:
        cards = [card.facts for card in report.cards]
        unstated += [title for name, title in _WANTED_OF_CARDS.items() if not any(name in facts for facts in cards)]
    return [str(title) for title in unstated]


# --- like hosts ---


def _alike(host: Host) -> list[tuple[str, str, str]]:
    """(slug, title, what is the same) of the hosts most alike. Three queries."""
    mine = traits_of(host)
    others = {other: traits_of(other) for other in hosts_that_may_be_alike(mine) if other != host}
    return [(other.slug, other.title, str(likeness(mine, others[other]).label)) for other in most_alike(mine, others)]
