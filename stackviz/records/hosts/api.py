"""The HTTP API of public hosts, for reading. Pages go by slug, so that each costs the same."""

from datetime import date

from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from ninja import Field as Described
from ninja import Query, Router, Schema
from ninja.decorators import decorate_view

from stackviz.records.catalog.models import Accelerator, CatalogueEdition, Vendor
from stackviz.records.hosts.models import Host, HostCard, HostComponent, HostEdition
from stackviz.records.hosts.queries import host_named, public_hosts
from stackviz.web.http.address import clean_text
from stackviz.web.http.conditional import unless_changed
from stackviz.web.http.errors import ErrorBody, Refusal, refuse_others
from stackviz.web.http.openapi import link, links, none_or_one_of, one_of

router = Router()

MOST_HOSTS = 200
REFUSED = dict.fromkeys((404, 422, 429), ErrorBody)
_tagged = decorate_view(unless_changed(lambda: f"{CatalogueEdition.current()}-{HostEdition.current()}"))


class HostCardOut(Schema):
    """`accelerator`: slug of the sheet, null where the source leaves variants open.

    `pcie_generation`: the highest that the card reports in its slot; `pcie_lanes`: negotiated.
    """

    index: int
    reported_name: str
    accelerator: str | None
    memory_bytes: int | None
    driver_version: str
    power_limit_w: float | None
    pcie_generation: int | None
    pcie_lanes: int | None
    compute_capability: str
    gpu_cores: int | None


class HostComponentOut(Schema):
    """A component with its version, or a fact of the report format with its value (`torch.cuda_version`)."""

    name: str
    value: str
    state: str = Described(json_schema_extra=one_of(HostComponent.State.values))


class HostOut(Schema):
    """A machine that its owner described in public. Empty texts and null: the source does not say.

    `url`: its page; `results`: its public cited results in this API; `vendor`: slug, of its first accelerator.
    `seen_on`: the day of the description; if `is_month_only`, the source names the month.
    """

    slug: str
    title: str
    url: str
    results: str
    vendor: str
    form: str = Described(json_schema_extra=none_or_one_of(Host.Form.values))
    system: str
    kernel: str
    cpu: str
    cpu_cores: int | None
    memory_bytes: int | None
    virtualisation: str = Described(json_schema_extra=none_or_one_of(Host.Virtualisation.values))
    seen_on: date
    is_month_only: bool
    source_url: str
    source_kind: str = Described(json_schema_extra=one_of(Host.SourceKind.values))
    note: str
    teaches: str
    same_machine_as: str
    cards: list[HostCardOut]
    components: list[HostComponentOut]


class HostParameters(Schema):
    vendor: str = Described("", description="slug of the vendor of its first accelerator")
    accelerator: str = Described("", description="slug of a sheet that one of its cards has")
    form: str = Described("", json_schema_extra=none_or_one_of(Host.Form.values))
    after: str = Described("", description="only hosts whose slug comes later in the order")
    limit: int = Described(50, ge=1, le=MOST_HOSTS, description="at most so many items")


class HostPage(Schema):
    """`next`: address of the next page, null on the last."""

    next: str | None
    items: list[HostOut]


@router.get(
    "/hosts/",
    response={200: HostPage, **REFUSED},
    summary="Public hosts, in pages",
    openapi_extra=links(
        200,
        link("stackviz_hosts_api_get_host", slug="/items/0/slug"),
        link("stackviz_cited_api_list_cited", host="/items/0/slug"),
    ),
)
@_tagged
def list_hosts(request: HttpRequest, parameters: Query[HostParameters]) -> HostPage:
    """Machines that their owners described in public, by slug, with their cards and software."""
    refuse_others(request, {"vendor", "accelerator", "form", "after", "limit"})
    limit = parameters.limit
    hosts = list(_filtered(parameters).filter(slug__gt=clean_text(parameters.after)).order_by("slug")[: limit + 1])
    is_last = len(hosts) <= limit
    return HostPage(
        next=None if is_last else _page_after(request, hosts[limit - 1].slug),
        items=[_host_out(request, host) for host in hosts[:limit]],
    )


@router.get(
    "/hosts/{slug}/",
    response={200: HostOut, **REFUSED},
    summary="One public host",
    openapi_extra=links(200, link("stackviz_cited_api_list_cited", host="/slug")),
)
@_tagged
def get_host(request: HttpRequest, slug: str) -> HostOut:
    """As its owner described it on the day `seen_on`."""
    refuse_others(request, set())
    host = host_named(clean_text(slug))
    if host is None:
        raise Refusal(404, f"unknown host {slug[:80]!r}", "slug")
    return _host_out(request, host)


def _filtered(parameters: HostParameters) -> QuerySet[Host]:
    vendor, accelerator = clean_text(parameters.vendor), clean_text(parameters.accelerator)
    form = parameters.form
    hosts = public_hosts()
    if form:
        if form not in Host.Form.values:
            raise Refusal(422, f"form must be one of {', '.join(Host.Form.values)}, not {form[:40]!r}", "form")
        hosts = hosts.filter(form=form)
    if vendor:
        if not Vendor.objects.filter(slug=vendor).exists():
            raise Refusal(422, f"unknown vendor {vendor[:40]!r}", "vendor")
        hosts = hosts.filter(vendor__slug=vendor)
    if accelerator:
        sheet = Accelerator.objects.filter(slug=accelerator, is_public=True).first()
        if sheet is None:
            raise Refusal(404, f"unknown accelerator {accelerator[:80]!r}", "accelerator")
        hosts = hosts.filter(pk__in=HostCard.objects.filter(accelerator=sheet).order_by().values("host"))
    return hosts


def _page_after(request: HttpRequest, slug: str) -> str:
    query = request.GET.copy()
    query["after"] = slug
    return request.build_absolute_uri(f"{request.path}?{query.urlencode()}")


def _host_out(request: HttpRequest, host: Host) -> HostOut:
    results = f"{reverse('api:list_cited')}?host={host.slug}"
    return HostOut(
        slug=host.slug,
        title=host.title,
        url=request.build_absolute_uri(host.get_absolute_url()),
        results=request.build_absolute_uri(results),
        vendor=host.vendor.slug,
        form=host.form,
        system=host.system,
        kernel=host.kernel,
        cpu=host.cpu,
        cpu_cores=host.cpu_cores,
        memory_bytes=host.memory_bytes,
        virtualisation=host.virtualisation,
        seen_on=host.seen_on,
        is_month_only=host.is_month_only,
        source_url=host.source_url,
        source_kind=host.source_kind,
        note=host.note,
        teaches=host.teaches,
        same_machine_as=host.same_machine_as,
        cards=[_card_out(card) for card in host.cards.all()],
        components=[
            HostComponentOut(name=each.name, value=each.value, state=each.state) for each in host.components.all()
        ],
    )


def _card_out(card: HostCard) -> HostCardOut:
    sheet = card.accelerator if card.accelerator is not None and card.accelerator.is_public else None
    return HostCardOut(
        index=card.index,
        reported_name=card.reported_name,
        accelerator=sheet.slug if sheet is not None else None,
        memory_bytes=card.memory_bytes,
        driver_version=card.driver_version,
        power_limit_w=card.power_limit_w,
        pcie_generation=card.pcie_generation,
        pcie_lanes=card.pcie_lanes,
        compute_capability=card.compute_capability,
        gpu_cores=card.gpu_cores,
    )
