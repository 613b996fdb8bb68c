"""A report as a public host that is not saved: only what a public host may say, and nothing that names its owner.

The reverse of `host_report`: that finds the same facts again in a host that was made here.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from django.utils.text import slugify
from django.utils.translation import gettext as _

from stackviz.base.units import quantity_label
from stackviz.records.catalog.models import Accelerator, Vendor
from stackviz.records.curated.rows import CONTROLS
from stackviz.records.hosts.models import Host, HostCard, HostComponent
from stackviz.records.hosts.privacy import private_part_of_value
from stackviz.records.hosts.reported import FACTS_OF_COMPONENTS
from stackviz.records.hosts.software import is_software_name
from stackviz.report.format import Card, Report, Scalar

__all__ = ["DescribedHost", "NotDescribable", "describe_host", "stated_fields"]

MOST_CARDS = 16
MOST_COMPONENTS = 60
_COMPONENT_OF_FACT = {fact: component for component, fact in FACTS_OF_COMPONENTS.items()}
_STATED_FACTS = ("torch.cuda_version", "cuda.driver_api_version", "cuda.available", "mps.available")
_KERNEL = re.compile(r"(?:(Darwin) |Linux )?(\d+(?:\.\d+)+(?:-\d+)*)")  # the rest of a kernel's name is its builder's
_MORE_THAN_ONE = 2
_LONGEST_NAME = 60  # in a slug of 80, before the month and a number
_MOST_WATTS = 100_000  # as the table of cards


class NotDescribable(ValueError):
    """No public host can be made of the report; the message says what it lacks."""


@dataclass(frozen=True, slots=True)
class DescribedHost:
    """A host with its cards and software, none saved. `left_out`: what was there and identifies somebody, and why."""

    host: Host
    cards: tuple[HostCard, ...]
    components: tuple[HostComponent, ...]
    left_out: tuple[tuple[str, str], ...]


def describe_host(report: Report, sheets: Sequence[Accelerator | None], seen_on: date) -> DescribedHost:
    """Return the machine of a report as a public host of that day. Two queries. Raises NotDescribable.

    `sheets`: of its cards, in their order; None where no spec sheet is certain.
    """
    if not report.cards:
        problem = _("No accelerator was found: add the output of nvidia-smi, rocm-smi or system_profiler.")
        raise NotDescribable(problem)
    if len(report.cards) > MOST_CARDS:
        problem = _("There are %(n)d accelerators: a public host has at most %(most)d.")
        raise NotDescribable(problem % {"n": len(report.cards), "most": MOST_CARDS})
    vendor = Vendor.objects.filter(slug=report.cards[0].vendor).first()
    if vendor is None:
        raise NotDescribable(_("The vendor of the accelerator is not in the catalogue."))
    if not report.facts.get("os.name"):
        problem = _("Nothing says which operating system it has: add python -m torch.utils.collect_env.")
        raise NotDescribable(problem)
    left_out: dict[str, str] = {}

    def text(name: str, value: Scalar | None, most: int, *, is_version: bool = False) -> str:
        """The value as text; "" and an entry in `left_out` where it identifies somebody."""
        shown = "" if value is None else CONTROLS.sub("", str(value))[:most].strip()
        private = private_part_of_value(shown, is_version=is_version) if shown else ""
        if private:
            left_out[name] = private
        return "" if private else shown

    facts = report.facts
    cards = tuple(
        HostCard(
            index=index,
            reported_name=text("card", card.reported_name, 120) or _("accelerator"),
            accelerator=sheet,
            memory_bytes=_whole(card.memory_bytes, most=2**63),
            driver_version=text("driver", card.facts.get("driver_version"), 40, is_version=True),
            power_limit_w=_number(card, "power_limit_w"),
            pcie_generation=_count(card, "pcie_generation_max"),
            pcie_lanes=_count(card, "pcie_width"),
            compute_capability=text("capability", _capability(card), 20, is_version=True),
            gpu_cores=_count(card, "gpu_cores"),
        )
        for index, (card, sheet) in enumerate(zip(report.cards, sheets, strict=True))
    )
    components = tuple(
        HostComponent(name=name, value=version, state="installed" if version else "unknown")
        for name, value in _software(report)
        if (version := text(name, value, 120, is_version=True)) or value is None
    )[:MOST_COMPONENTS]
    host = Host(
        vendor=vendor,
        system=text("system", _system(report), 80, is_version=True) or _("not said"),
        kernel=_kernel(report),
        cpu=text("cpu", facts.get("cpu.model"), 120),
        cpu_cores=_whole(facts.get("cpu.cores_physical"), most=2**15),
        memory_bytes=_whole(facts.get("memory.total_bytes"), most=2**63),
        virtualisation=_virtualisation(report),
        seen_on=seen_on,
    )
    host.title = _title(host, cards, components)[:120]
    host.slug = f"{slugify(host.title)[:_LONGEST_NAME].strip('-')}-{seen_on:%Y-%m}"
    return DescribedHost(host, cards, components, tuple(left_out.items()))


def stated_fields(
    host: Host, cards: Iterable[HostCard], components: Iterable[HostComponent]
) -> Iterator[tuple[str, str]]:
    """(what it is, the text) of every field of a host that says something: what its page can show."""
    memory = quantity_label(host.memory_bytes, "B", binary=True, digits=3) if host.memory_bytes else ""
    stated = {
        _("Title"): host.title,
        _("System"): f"{host.system} {host.kernel}".strip(),
        _("Processor"): ", ".join(filter(None, [host.cpu, _count_text(_("%(n)s cores"), host.cpu_cores)])),
        _("Memory"): memory,
        _("Virtualisation"): str(host.get_virtualisation_display()) if host.virtualisation else "",
        _("Form"): str(host.get_form_display()) if host.form else "",
        _("Note"): host.note,
    }
    yield from ((title, text) for title, text in stated.items() if text)
    for card in cards:
        yield _("Card %(n)s") % {"n": card.index}, ", ".join(_card_texts(card))
    yield from ((item.name, item.value or str(item.get_state_display())) for item in components)


def _card_texts(card: HostCard) -> Iterator[str]:
    yield card.reported_name
    if card.memory_bytes:
        yield quantity_label(card.memory_bytes, "B", binary=True, digits=3)
    texts = (
        (_("driver %(n)s"), card.driver_version),
        (_("power limit %(n)s W"), f"{card.power_limit_w:g}" if card.power_limit_w else ""),
        (_("PCIe %(n)s"), card.pcie_generation),
        (_("%(n)s PCIe lanes"), card.pcie_lanes),
        (_("compute capability %(n)s"), card.compute_capability),
        (_("%(n)s GPU cores"), card.gpu_cores),
    )
    yield from filter(None, (_count_text(template, value) for template, value in texts))


def _count_text(template: str, value: int | str | None) -> str:
    return template % {"n": value} if value else ""


def _system(report: Report) -> str:
    """As the files of hosts write it: `macOS 26.5.2 (25F84)`, `Ubuntu 22.04`."""
    name, version, build = (report.facts.get(f"os.{part}") for part in ("name", "version", "build"))
    shown = f"({build})" if build and name == "macOS" else ""
    return " ".join(str(part) for part in (name, version, shown) if part)


def _kernel(report: Report) -> str:
    versions = (item.version for item in report.software if item.component == "linux")
    match = _KERNEL.match(str(report.facts.get("os.kernel") or next(versions, "") or ""))
    return " ".join(filter(None, match.groups())) if match else ""


def _virtualisation(report: Report) -> str:
    """What the report says; a report that says nothing of it says neither that there is none."""
    if report.facts.get("os.wsl"):
        return str(Host.Virtualisation.WSL2)
    if report.facts.get("machine.container"):
        return str(Host.Virtualisation.CONTAINER)
    return str(Host.Virtualisation.VM) if report.facts.get("machine.virtualization") else ""


def _software(report: Report) -> Iterator[tuple[str, Scalar | None]]:
    """Name and version of each once: components, then the facts that state a version or whether a device is usable."""
    versions: dict[str, Scalar | None] = {}
    for item in report.software:
        if is_software_name(item.component) and item.component != "linux":  # the kernel is a column of the host
            versions[item.component] = versions.get(item.component) or item.version
    for fact, component in _COMPONENT_OF_FACT.items():
        if report.facts.get(fact):
            versions[component] = versions.get(component) or report.facts[fact]
    for fact in _STATED_FACTS:
        value = report.facts.get(fact)
        if value is not None:
            versions[fact] = {True: "yes", False: "no"}[value] if isinstance(value, bool) else value
    if report.facts.get("os.name") == "macOS" and report.facts.get("os.version"):
        versions["macos"] = report.facts["os.version"]
    yield from sorted(versions.items())


def _title(host: Host, cards: Sequence[HostCard], components: Sequence[HostComponent]) -> str:
    """`2x RTX 3090, Ubuntu 22.04, driver 580`: what it is, without a name that anybody chose."""
    names = Counter(card.accelerator.drawn_name if card.accelerator else card.reported_name for card in cards)
    parts = [f"{n}x {name}" if n >= _MORE_THAN_ONE else name for name, n in names.items()]
    driver = next((card.driver_version for card in cards if card.driver_version), "") or next(
        (item.value for item in components if item.name == "nvidia-driver"), ""
    )
    branch = driver.partition(".")[0]
    return ", ".join([*parts[:3], host.system, *([f"driver {branch}"] if branch else [])])


def _capability(card: Card) -> Scalar | None:
    return card.facts.get("compute_capability") or card.facts.get("gfx_target")


def _number(card: Card, name: str) -> float | None:
    value = card.facts.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 1 <= value < _MOST_WATTS else None


def _count(card: Card, name: str) -> int | None:
    return _whole(card.facts.get(name), most=2**15)


def _whole(value: Scalar | None, most: int) -> int | None:
    """A count below `most`, what its column holds; None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < most else None
