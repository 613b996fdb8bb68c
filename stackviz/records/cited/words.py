"""What pages write of a cited result: its parameters, software, amount, address."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from stackviz.base.units import format_number
from stackviz.records.cited.benchmark import CitedBenchmark, Params
from stackviz.records.cited.models import CitedResult
from stackviz.records.cited.parameters import PARAMETERS
from stackviz.records.cited.ranking import FEWEST_ACCELERATORS, FEWEST_VENDORS, Lead

# Parameters whose values need no title beside them.
_SPEAKS_FOR_ITSELF = frozenset(
    {
        "algorithm", "backend", "dtype", "engine", "framework", "kernel", "library", "metric", "model", "op", "per",
        "precision", "quant", "scenario", "submitter", "suite", "system", "task", "test", "version",
    }
)  # fmt: skip


def facet_title(name: str) -> str:
    return str(PARAMETERS[name].title) if name in PARAMETERS else name


def setting_text(benchmark: CitedBenchmark, params: Params) -> str:
    """`tg128 · Llama 2 7B · Q4_0`, in the order of the facets; counts and the rest with their titles."""
    order = [*benchmark.facets, *benchmark.compared]
    names = sorted(params, key=lambda name: order.index(name) if name in order else len(order))
    parts = [parameter_text(name, params[name]) for name in names]
    return " · ".join(parts) or _("no parameters stated")


def parameter_text(name: str, value: str | int) -> str:
    return str(value) if name in _SPEAKS_FOR_ITSELF else f"{facet_title(name)} {value}"


def other_params(benchmark: CitedBenchmark, params: Params) -> dict[str, str | int]:
    """Parameters that need not agree."""
    return {name: value for name, value in sorted(params.items()) if name not in benchmark.compared}


def software_text(software: Mapping[str, str]) -> str:
    """`llama.cpp e9fd8dc, cuda 12.1`"""
    return ", ".join(f"{name} {value}" for name, value in sorted(software.items()))


def no_first_text(lead: Lead) -> str:
    """Why a ranking has no first; "" where it has one."""
    if lead.row is not None:
        return ""
    if not lead.is_of_merit:
        return _("not ranked: less power is no merit without the speed")
    return too_few_text(lead.accelerators, lead.vendors)


def too_few_text(accelerators: int, vendors: int) -> str:
    """`too few to rank: 2 accelerators of 1 vendor`"""
    words = {
        "accelerators": ngettext("%(n)d accelerator", "%(n)d accelerators", accelerators) % {"n": accelerators},
        "vendors": ngettext("%(n)d vendor", "%(n)d vendors", vendors) % {"n": vendors},
    }
    if vendors == FEWEST_VENDORS - 1 and accelerators >= FEWEST_ACCELERATORS:
        return _("too few to rank: %(accelerators)s, but of %(vendors)s; a second vendor is missing") % words
    return _("too few to rank: %(accelerators)s of %(vendors)s") % words


def devices_text(number: int) -> str:
    return ngettext("%(n)d device", "%(n)d devices", number) % {"n": number}


@dataclass(frozen=True, slots=True)
class HostLink:
    """The public host that a result was measured on: its title and its page."""

    title: str
    url: str


def host_link(result: CitedResult) -> HostLink | None:
    """None where the source describes no machine, or not one that is public. `host` of the result is loaded."""
    host = result.public_host
    return None if host is None else HostLink(host.title, host.get_absolute_url())


def result_address(result: CitedResult) -> str:
    """Stable: rows of the curated files by their key, which is made of what they say; rows made by hand by number."""
    key = result.data_key or f"{result.benchmark}/row-{result.pk}"
    return reverse("benchmarks:result", args=key.split("/", 1))


def benchmark_address(key: str) -> str:
    return reverse("benchmarks:benchmark", args=[key])


def listed(names: Iterable[str]) -> str:
    return ", ".join(facet_title(name) for name in names)


def share_text(share: float) -> str:
    """`71 %`: of a bound."""
    return f"{format_number(share * 100, 2 if share < 1 else 3)} %"
