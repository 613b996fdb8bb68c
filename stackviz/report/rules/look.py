"""How a rule looks at a report: every fact it reads is remembered as evidence, a missing one is never guessed."""

import math
import re
from collections.abc import Iterable, Mapping
from functools import cached_property

from stackviz.report.format import Absent, Card, Report, Result, systems
from stackviz.report.format.components import PACKAGE_METADATA
from stackviz.report.rules.capabilities import listed_capabilities
from stackviz.report.rules.compatibility import KnownCard, Tables
from stackviz.report.rules.known_cards import CUT, is_cut, names_behind_share
from stackviz.report.rules.versions import numbers

__all__ = ["DRIVER_PLATFORMS", "CardLook", "Look", "NotReported", "capabilities_by_name"]

# Reasons that say "there is none", as opposed to "nobody told": a CPU-only torch has no CUDA version.
MEANS_NONE = frozenset({"not_applicable", "not_installed", "not_supported"})
NOT_COLLECTED = "not_collected"
DRIVER_PLATFORMS = ("linux", "windows")  # where NVIDIA publishes drivers that the tables know
_CAPABILITY = {"nvidia": "compute_capability", "amd": "gfx_target"}
"""The fact that says what code runs on the cards of a vendor."""
_PACKAGES = re.compile(r"\b(?:packages?|pip|conda)\b")
_FILES = re.compile(r"\bnames of libraries\b")


class NotReported(Exception):
    """A fact the rule cannot do without is missing. Carries its name and, where given, why it is missing."""

    def __init__(self, name: str, reason: str = "", cards: tuple[int, ...] = ()) -> None:
        super().__init__(name)
        self.name = name
        self.reason = reason
        self.cards = cards


class _Facts:
    """Named facts with their absences, remembering what was asked. `about`: the card they are about, or ()."""

    about: tuple[int, ...] = ()

    def __init__(self, facts: Mapping[str, object], absent: Mapping[str, Absent], prefix: str = "") -> None:
        self._facts = facts
        self._absent = absent
        self._prefix = prefix
        self.evidence: dict[str, str] = {}

    def get(self, name: str) -> str | None:
        """The fact as text, None if missing. True and False read "true" and "false"."""
        value = self._facts.get(name)
        if value is None:
            if name in self._absent:
                self.evidence[self._prefix + name] = f"none ({self._absent[name].reason})"
            return None
        text = str(value).lower() if isinstance(value, bool) else str(value).strip()
        self.evidence[self._prefix + name] = text
        return text or None

    def _remember(self, *names: str) -> None:
        """Writes facts into the evidence that something else reads."""
        for name in names:
            self.get(name)

    def need(self, name: str) -> str:
        """The fact as text. Raises NotReported if it is missing."""
        value = self.get(name)
        if value is None:
            reason = self._absent[name].reason if name in self._absent else ""
            self.evidence.setdefault(self._prefix + name, "not reported")
            raise NotReported(self._prefix + name, reason, self.about)
        return value

    def number(self, name: str) -> float | None:
        """Return the fact as a number; None if it is missing, not a number, or not finite."""
        value = self._facts.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not -math.inf < value < math.inf:
            return None
        self.evidence[self._prefix + name] = f"{value:.15g}"
        return float(value)

    def is_true(self, name: str) -> bool | None:
        """Return the value of a yes-or-no fact; None if it was not reported."""
        text = self.get(name)
        return None if text is None else text == "true"

    def mentions(self, name: str) -> bool:
        """Return whether the report mentions this fact, even as missing."""
        return name in self._facts or (name in self._absent and self._absent[name].reason != NOT_COLLECTED)

    def reason_of(self, name: str) -> str:
        """Why a fact is missing, "" where it is not or nobody says: `failed`, `not_installed`."""
        if name in self._facts or name not in self._absent:
            return ""
        self.evidence[self._prefix + name] = f"none ({self._absent[name].reason})"
        return self._absent[name].reason

    def states_none(self, name: str) -> bool:
        """Whether the report says that there is no such thing, which is not the same as saying nothing."""
        if name in self._absent and self._absent[name].reason in MEANS_NONE and name not in self._facts:
            self.evidence[self._prefix + name] = f"none ({self._absent[name].reason})"
            return True
        return False


class CardLook(_Facts):
    """One card of the report. What code it runs, where it does not state it, follows from the products it may be.

    `is_only`: the report has no other, so that its number says nothing.
    """

    def __init__(self, card: Card, tables: Tables, *, is_only: bool = False) -> None:
        super().__init__(card.facts, card.absent, f"card {card.index} ")
        self.index = card.index
        self.is_only = is_only
        self.about = (card.index,)
        self.vendor = card.vendor.strip().lower()
        self.name = card.reported_name
        self.is_cut = is_cut(card.reported_name)
        self.is_laptop = any(mark in card.reported_name for mark in ("Laptop", "Mobile", "Max-Q Design"))
        self.memory_bytes = card.memory_bytes
        self._tables = tables
        self.evidence = {f"card {self.index}": self.name}

    def forget_reads(self) -> None:
        """Begin anew with the evidence, for the next rule."""
        if len(self.evidence) > 1:
            self.evidence = {f"card {self.index}": self.name}

    def get(self, name: str) -> str | None:
        value = super().get(name)
        if value is None and name == _CAPABILITY.get(self.vendor):
            value, source = self._known_capability
            if value:
                self.evidence[self._prefix + name] = f"{value} ({source})"
        return value or None

    @property
    def capability_by_name(self) -> str:
        """What code it runs by its product, whatever a tool states; "" where its name does not tell."""
        return self._known_capability[0]

    @cached_property
    def _known_capability(self) -> tuple[str, str]:
        """By its spec sheet, else by its name, and which of them; two empty texts if neither tells."""
        may_be = self._tables.candidates(self.vendor, self.name, self.memory_bytes)
        may_be = may_be or self._tables.candidates(self.vendor, self.name)  # a memory size without a sheet
        capabilities = {card.compute_capability for card in may_be}
        if self.is_cut or not may_be:
            capabilities |= listed_capabilities(self.vendor, self.name)
        capabilities = capabilities or self._capabilities_behind_share()
        source = "from the spec sheet" if may_be else "by its name"
        return (capabilities.pop(), source) if len(capabilities) == 1 else ("", "")

    def _capabilities_behind_share(self) -> set[str]:
        """Of the card that a vGPU is a share of; empty for every other card."""
        for name in names_behind_share(self.name):
            if may_be := self._tables.candidates(self.vendor, name):
                return {card.compute_capability for card in may_be}
            if listed := listed_capabilities(self.vendor, name):
                return set(listed)
        return set()

    @cached_property
    def known(self) -> KnownCard | None:
        """The product this card is, if its name and memory tell."""
        return self._tables.known_card(self.vendor, self.name, self.memory_bytes)


_MAKERS = ("", "GeForce ", "Tesla ", "Quadro ")


def capabilities_by_name(tables: Tables, name: str) -> frozenset[str]:
    """The compute capabilities of the NVIDIA cards that people may mean by `RTX 5090` or `A100`."""
    for ending in ("", CUT):
        cards = (_card_named(f"{maker}{name}{ending}", tables) for maker in _MAKERS)
        capabilities = frozenset(capability for card in cards if (capability := card.get("compute_capability")))
        if capabilities:
            return capabilities
    return frozenset()


def _card_named(name: str, tables: Tables) -> CardLook:
    return CardLook(Card(index=0, kind="gpu", vendor="nvidia", reported_name=name, memory_bytes=None), tables)


class Look(_Facts):
    """A whole report. One look serves all rules, one after the other: each begins with `forget_reads`."""

    def __init__(self, report: Report, tables: Tables) -> None:
        super().__init__(report.facts, report.absent)
        self.day = report.created_at.date().isoformat()
        self.broken_rules: set[str] = set()
        """The rules that have called something broken so far."""
        self.problem_rules: set[str] = set()
        """Those, and the rules that have warned."""
        self.holds: dict[str, str] = {}
        """What was compared and holds, by rule; a rule that finds a problem with another card too is not among them."""
        self._report, self._tables = report, tables
        self._software = report.software

    def forget_reads(self) -> None:
        """Begin anew with the evidence, of the cards too, for the next rule."""
        if self.evidence:
            self.evidence = {}
        for card in self.all_cards:
            card.forget_reads()

    @property
    def results(self) -> tuple[Result, ...]:
        """What was measured. A rule that reads them adds its evidence itself."""
        return self._report.results

    @cached_property
    def all_cards(self) -> tuple[CardLook, ...]:
        cards = self._report.cards
        return tuple(CardLook(card, self._tables, is_only=len(cards) == 1 and card.index == 0) for card in cards)

    @cached_property
    def _found_by(self) -> dict[str, dict[str, list[str]]]:
        """Component -> version -> who found it. Made when it is first asked for: most rules never ask."""
        named: dict[str, dict[str, list[str]]] = {}
        for software in self._software:
            version = (software.version or "").strip()
            named.setdefault(software.component, {}).setdefault(version, []).append(software.found_by)
        return named

    def cards(self, vendor: str) -> list[CardLook]:
        return [card for card in self.all_cards if card.vendor == vendor]

    @property
    def lists_packages(self) -> bool:
        """Whether all installed packages were looked through, so that one that is not named is not installed."""
        return any(software.found_by == PACKAGE_METADATA for software in self._software)

    def software(self, component: str) -> list[str]:
        """The versions of a component that were found, each once; "" where one did not say. Empty if it was not."""
        versions = list(self._found_by.get(component, {}))
        if versions:
            self.evidence[component] = ", ".join(version or "version not stated" for version in versions)
        return versions

    def packages(self, component: str) -> list[str]:
        """Of the versions found, those that a list of packages names (pip's, conda's), each once."""
        named = self._found_by.get(component, {})
        return [
            version for version in self.software(component) if version and any(map(_PACKAGES.search, named[version]))
        ]

    def is_from_conda(self, component: str) -> bool:
        """Whether conda lists a package as its own, not as one that pip put into its environment."""
        by_version = self._found_by.get(component, {})
        return any(re.search(r"\bconda\b", by) for finders in by_version.values() for by in finders)

    def files(self, component: str) -> list[str]:
        """Of the versions found, those read off files' names only: they lie on the system, and may not be in use."""
        named = self._found_by.get(component, {})
        return [version for version in self.software(component) if all(map(_FILES.search, named[version]))]

    @property
    def platform(self) -> str:
        """`linux`, `windows` or `macos` as far as drivers go: under WSL the driver is the Windows one. "" unknown."""
        self._remember("os.name", "os.wsl")
        return self._platform

    @cached_property
    def _platform(self) -> str:
        return systems.driver_platform(self._facts)

    @property
    def driver_platform(self) -> str:
        """Like `platform`; if the system is not stated, the driver may imply it: WDDM is Windows', 535.183.01 is
        Linux's.
        """
        if platform := self.platform:
            return platform
        if any(card.get("driver_model") for card in self.all_cards):
            return "windows"
        driver = self.get("nvidia.driver_version") or ""
        return "linux" if len(numbers(driver)) > 2 else ""

    @property
    def driver_platforms(self) -> tuple[str, ...]:
        """The platform of the driver; where nothing tells it, each of them: often all say the same."""
        return (self.driver_platform,) if self.driver_platform else DRIVER_PLATFORMS

    @cached_property
    def mentions_torch(self) -> bool:
        """Whether the report says anything of torch, be it that it is not there. A listing of cards does not."""
        return any(name.startswith("torch.") for names in (self._facts, self._absent) for name in names)

    def works(self, device: str) -> bool:
        """Whether torch is reported to use this device ("cuda", "mps"): then no rule may say that it cannot."""
        return self.is_true(f"{device}.available") is True

    @property
    def starts_cuda(self) -> bool:
        """Whether CUDA is reported to start: cuInit answered 0, or torch uses a card."""
        return self.number("cuda.init_code") == 0 or self.works("cuda")

    @property
    def wheel_platform(self) -> str:
        """The platform a Python wheel is for: `linux-x86_64`; "" unknown."""
        self._remember("os.name", "python.arch" if self._facts.get("python.arch") else "os.arch")
        return self._wheel_platform

    @cached_property
    def _wheel_platform(self) -> str:
        platform = systems.wheel_platform(self._facts)
        if not platform and self._facts.get("torch.cuda_version") and systems.family(self._facts) == "windows":
            return "windows-x86_64"  # the only one on Windows that torch has CUDA builds for
        return platform

    def evidence_for(self, cards: Iterable[int]) -> dict[str, str]:
        """What was read about the machine and about these cards."""
        chosen = set(cards)
        if not chosen:
            return dict(self.evidence)
        about = [card.evidence for card in self.all_cards if card.index in chosen]
        return {name: value for part in (self.evidence, *about) for name, value in part.items()}
