"""Facts of a report as text for people: bytes in GiB, clocks in MHz, truths in words. No queries.

Names, units and meanings come from the registry of facts; a fact that is not in it is shown as it was sent.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from stackviz.base.light import light_dataclass
from stackviz.base.units import format_reported
from stackviz.report.format import Absent
from stackviz.report.format.facts import CARD_ABSENT_NAMES, CARD_FACTS, CONDITIONS, FACTS, Fact
from stackviz.web.i18n.words import missing_text

LONGEST_TEXT = 480  # of a fact in a table; the whole of it is on the receipt
_BY_NAME: Mapping[str, Fact] = {**CARD_ABSENT_NAMES, **CONDITIONS, **CARD_FACTS, **FACTS}

Facts = Mapping[str, Any]
Absences = Mapping[str, Absent]


@light_dataclass(slots=True)
class ShownFact:
    """One fact of a report. `text` is empty when it is missing: then `missing` says why, `detail` more of it."""

    name: str
    text: str = ""
    meaning: str = ""
    missing: str = ""
    detail: str = ""


def fact_text(name: str, value: Any) -> str:  # noqa: ANN401 (any scalar of a report)
    """The value in words: `memory.total_bytes` 137438953472 -> "128 GiB", a truth -> "yes". "" for None."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, int | float):
        return format_reported(value, _BY_NAME[name].unit if name in _BY_NAME else "")
    return _cut(str(value))


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else text[:LONGEST_TEXT] + "…"


def shown_facts(facts: Facts, registry: Mapping[str, Fact] = FACTS) -> list[ShownFact]:
    """All facts, in the registry's order; those it does not know come last."""
    return [ShownFact(name, fact_text(name, facts[name]), meaning_of(name)) for name in in_order(facts, registry)]


def missing_facts(absent: Absences, registry: Mapping[str, Fact] = FACTS) -> list[ShownFact]:
    """What was not reported, with the reason in words, in the registry's order."""
    return [_missing(name, absent[name]) for name in in_order(absent, registry)]


def one_fact(name: str, facts: Facts, absent: Absences) -> ShownFact:
    """The fact, or why it is missing; a report that does not mention it did not report it."""
    if text := fact_text(name, facts.get(name)):
        return ShownFact(name, text)
    return _missing(name, absent.get(name) or Absent("not_reported"))


def _missing(name: str, why: Absent) -> ShownFact:
    return ShownFact(name, "", meaning_of(name), missing_text(why.reason), _cut(why.detail or ""))


def meaning_of(name: str) -> str:
    """What the fact says, as the registry words it; "" for a name it does not know."""
    return _BY_NAME[name].meaning if name in _BY_NAME else ""


def in_order(names: Iterable[str], registry: Mapping[str, Fact]) -> list[str]:
    """Names in the registry's order, those it does not know last, by name."""
    names = set(names)
    return [name for name in registry if name in names] + sorted(names - registry.keys())


# --- those that people ask for first: what they are called, and what stands beside them ---

MACHINE_FACTS = ("cpu.model", "memory.total_bytes", "os.name", "python.version", "torch.version")
"""What a list of machines and a machine's page state first."""


HeadlineFact = tuple[str, ShownFact, str]

TITLES: Mapping[str, str | Promise] = {
    "cpu.model": gettext_lazy("CPU"),
    "memory.total_bytes": pgettext_lazy("of a machine", "Memory"),
    "os.name": gettext_lazy("System"),
    "python.version": gettext_lazy("Python"),
    "torch.version": gettext_lazy("PyTorch"),
    "torch.cuda_version": gettext_lazy("built with CUDA"),
    "nvidia.driver_version": gettext_lazy("NVIDIA driver"),
    "cuda.runtime_version": gettext_lazy("CUDA runtime"),
    "apple.chip": gettext_lazy("Chip"),
    "memory.gpu_limit_bytes": gettext_lazy("Memory the GPU may use"),
    "mps.available": gettext_lazy("mps device"),
}


def headline(names: Iterable[str], facts: Facts, absent: Absences) -> tuple[HeadlineFact, ...]:
    """(title, fact, a line under it, or "") of these facts, names of TITLES, in the order given."""
    return tuple(
        (str(TITLES[name]), headline_fact(name, facts, absent), _MORE[name](facts) if name in _MORE else "")
        for name in names
    )


def headline_fact(name: str, facts: Facts, absent: Absences) -> ShownFact:
    """The fact as a headline words it: the system with its version, the mps device as usable or not."""
    if name == "os.name":
        return _system(facts, absent)
    return _mps(facts, absent) if name == "mps.available" else one_fact(name, facts, absent)


def _system(facts: Facts, absent: Absences) -> ShownFact:
    """`Ubuntu` and `24.04` as one."""
    fact, version = one_fact("os.name", facts, absent), facts.get("os.version")
    return ShownFact(fact.name, f"{fact.text} {version}") if fact.text and version else fact


def _mps(facts: Facts, absent: Absences) -> ShownFact:
    """Built in and usable are two things: macOS updates have broken the second."""
    built, available = facts.get("mps.built"), facts.get("mps.available")
    if built is None or available is None:
        return one_fact("mps.available", facts, absent)
    if available:
        return ShownFact("mps.available", _("usable"))
    return ShownFact("mps.available", _("built in, not usable") if built else _("not built in"))


def _cores(facts: Facts) -> str:
    physical, logical = facts.get("cpu.cores_physical"), facts.get("cpu.cores_logical")
    cores = _("%(n)s cores") % {"n": physical} if physical else ""
    threads = _("%(n)s threads") % {"n": logical} if logical and logical != physical else ""
    return ", ".join(filter(None, (cores, threads)))


def _served_cuda(facts: Facts) -> str:
    version = facts.get("cuda.driver_api_version")
    return _("serves CUDA up to %(version)s") % {"version": version} if version else ""


def _text_of(name: str) -> Callable[[Facts], str]:
    return lambda facts: fact_text(name, facts.get(name))


_MORE: Mapping[str, Callable[[Facts], str]] = {
    "cpu.model": _cores,
    "os.name": _text_of("os.kernel"),
    "python.version": _text_of("python.implementation"),
    "nvidia.driver_version": _served_cuda,
}
