"""The pages that are measured: the address of each kind that is measured closely, and others nobody requests before.

Runs inside the site's process; what it returns is JSON, because the measuring process has no Django.
"""

from itertools import product
from typing import Any

from bench.diagnose import dump
from bench.inside import MACHINES

H100, M3_MAX = "nvidia-h100-sxm5-80gb", "apple-m3-max-40"
NEW = 30  # addresses of each kind that nobody requested before, if there are as many
RANKED = (
    "memory_gb", "memory_bandwidth_gb_s", "fp32_tflops", "fp16_tensor_tflops", "int8_tensor_tops", "tdp_w",
    "cuda_cores", "l2_cache_mb", "launch_price_usd", "transistors", "ridge-point", "flops-per-watt",
)  # fmt: skip
SORTED = ("-memory_gb", "-memory_bandwidth_gb_s", "-fp32_tflops", "-release_date", "kind", "name")

Page = dict[str, Any]  # {"path": address, "form": fields to POST, or None for a GET}


def pages() -> dict[str, list[Page]]:
    """Kind of page -> its addresses, the one measured closely first; no two show the same."""
    from django.urls import reverse

    compare, plan, changes = reverse("compare:page"), reverse("plan:page"), reverse("accelerators:changes")
    slugs = accelerators()
    machines = [f"node-{number}" for number in range(MACHINES)]
    trios = [(H100, M3_MAX, machines[0])]
    trios += [(slug, slugs[n], machines[n % MACHINES]) for n, slug in enumerate(slugs[1:])]
    addresses = {
        "compare": [f"{compare}?a={first}&a={other}&a=machine:bench/{name}" for first, other, name in trios],
        "machine": [reverse("machines:machine", args=["bench", name]) for name in machines],
        "sheet": [reverse("accelerators:sheet", args=[slug]) for slug in dict.fromkeys([H100, *slugs])],
        "list": lists(reverse("accelerators:list")),
        "ladder": ladders(reverse("explore:ladder")),
        "plan": [f"{plan}?accelerator={H100}&system=linux-x86_64", *plans(plan)],
        "home": [reverse("home:home")],
        "machine history": [reverse("machines:past", args=["bench", name]) for name in machines],
        "explore": scatters(reverse("explore:scatter")),
        "fit": [reverse("fit:page"), *(f"{reverse('fit:page')}?accelerator={slug}" for slug in slugs)],
        "benchmark": [reverse("benchmarks:benchmark", args=["llama-bench"])],
        "changes": [changes, *(f"{changes}?field={name}" for name in RANKED[:8])],
        "claims": [reverse("accelerators:claims")],
        "API values": [f"/api/v1/values/?limit=100&offset={100 * number}" for number in range(NEW)],
        "API cited": [f"/api/v1/cited/?after={1000 * number}" for number in range(NEW)],
        "API machines": ["/api/v1/machines/", *(f"/api/v1/machines/?limit={number}" for number in range(1, 20))],
    }
    requests = {name: [{"path": path, "form": None} for path in paths[:NEW]] for name, paths in addresses.items()}
    return requests | {"diagnosis": [{"path": reverse("diagnose:page"), "form": {"text": text}} for text in dumps()]}


def accelerators() -> list[str]:
    """Slugs of NVIDIA's public accelerators."""
    from stackviz.records.catalog.models import Accelerator

    public = Accelerator.objects.filter(is_public=True, vendor__slug="nvidia")
    return list(public.order_by("slug").values_list("slug", flat=True))


def lists(address: str) -> list[str]:
    """The list as it opens, then with two or three filters: nobody's combination is kept."""
    filters = product((2012, 2014, 2016, 2017, 2018, 2019), SORTED)
    return [address, *(f"{address}?year_from={year}&sort={sort}" for year, sort in filters)]


def ladders(address: str) -> list[str]:
    """The ladder as it opens, then other measures and kinds."""
    kinds = product(("&kind=gpu", "&vendor=nvidia", "&scale=log"), RANKED)
    return [address, *(f"{address}?field={field}{kind}" for kind, field in kinds)]


def scatters(address: str) -> list[str]:
    """The scatter as it opens, then with other axes."""
    pairs = [pair for pair in product(RANKED[:6], RANKED[5:10]) if pair[0] != pair[1]]
    return [address, *(f"{address}?x={x}&y={y}" for x, y in pairs)]


def plans(address: str) -> list[str]:
    """Plans for cards of which the tables know the compute capability, with one torch and another."""
    from stackviz.report.rules import packaged_tables

    cards = packaged_tables().cards
    slugs = sorted({card.accelerator for card in cards if card.vendor == "nvidia" and card.compute_capability})
    slugs = [slug for slug in slugs if "jetson" not in slug and slug != H100]
    torches = ("2.14.0", "2.13.0", "2.9.0")
    return [
        f"{address}?accelerator={slug}&system=linux-x86_64&torch={torches[n % 3]}"
        for n, slug in enumerate(slugs[::2])
    ]  # fmt: skip


def dumps() -> list[str]:
    """20 kB of text each, of machines that differ in their driver."""
    text = dump()
    return [
        text.replace("580.65.06", f"580.65.{10 + number}").replace("560.35.03", f"560.35.{10 + number}")
        for number in range(NEW)
    ]
