"""Public hosts as their list has them: read once for each edition and process, then looked up. No request."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property, lru_cache

from stackviz.base.units import format_count
from stackviz.draw.colours import hue_of
from stackviz.records.catalog.models import Vendor
from stackviz.records.catalog.queries import PublicCatalogue, public_catalogue
from stackviz.records.cited.best import phase_of
from stackviz.records.cited.cases import edition_of_cases
from stackviz.records.cited.host_bounds import host_bound
from stackviz.records.cited.models import CitedResult
from stackviz.records.cited.queries import SHOWN_OF_HOSTS, Published, peaks_by_accelerator
from stackviz.records.cited.registry import CITED_BENCHMARKS
from stackviz.records.cited.words import setting_text
from stackviz.records.hosts.models import Host, HostCard, HostComponent, HostEdition
from stackviz.records.stacks.models import Edition
from stackviz.records.stacks.rule_tables import rule_tables
from stackviz.report.rules import Tables
from stackviz.report.rules.drivers import driver_branch
from stackviz.report.rules.versions import major_minor, numbers
from stackviz.web.http.addresses import address_by_name

NOT_REPORTED = "unknown"  # what a filter calls a value that the source does not say
ABSENT = "absent"
_OF_CARDS = ("host", "reported_name", "accelerator", "driver_version")
_OF_COMPONENTS = ("host", "name", "value", "state")
_OF_RESULTS = ("accelerator", "host", "count", "benchmark", "params", "params_key", "unit", "amount", "data_key")
_TIMES = re.compile(r"^(\d+)x ")
_CHIP = re.compile(r"\bM(\d)\b")
_WINDOWS_DRIVER = re.compile(r"\d+\.\d+\.\d+(\d)\.(\d{4})")  # 32.0.15.7680 is NVIDIA's 576.80

# The first that the text of a system contains -> its family.
_FAMILIES = (
    ("wsl", "wsl2"),
    ("macos", "macos"),
    ("windows", "windows"),
    ("jetpack", "jetpack"),
    ("ubuntu", "ubuntu"),
    ("raspberry", "debian"),
    ("debian", "debian"),
    ("fedora", "fedora"),
    ("bazzite", "fedora"),
    ("cachyos", "arch"),
    ("arch linux", "arch"),
    ("linux", "linux"),
)
# What runs models -> the components that show it.
ENGINES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "llama-cpp": ("llama.cpp", ("llama-cpp", "ik-llama-cpp")),
    "mlx": ("MLX", ("mlx", "mlx-lm", "mlx-swift-lm", "rapid-mlx", "omlx")),
    "vllm": ("vLLM", ("vllm", "vllm-ascend")),
    "ollama": ("Ollama", ("ollama",)),
    "sglang": ("SGLang", ("sglang",)),
    "transformers": ("Transformers", ("transformers", "ipex-llm")),
    "pytorch": ("PyTorch", ("pytorch",)),
    "coreml": ("Core ML", ("coreml",)),
}
_MAIN = (
    ("CUDA", ("torch.cuda_version", "cuda.driver_api_version", "cuda-toolkit")),
    ("ROCm", ("rocm",)),
    ("torch", ("pytorch",)),
    ("MLX", ("mlx",)),
    ("vLLM", ("vllm",)),
    ("SGLang", ("sglang",)),
    ("llama.cpp", ("llama-cpp",)),
    ("Ollama", ("ollama",)),
    ("Vulkan", ("vulkan",)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HostTest:
    """A case of a cited benchmark that hosts have results of; `hosts`: how many."""

    key: str
    benchmark: str
    params: Mapping[str, str | int]
    hosts: int

    @property
    def title(self) -> str:
        """`llama-bench: tg128 · Llama 2 7B · Q4_0`, in the reader's language."""
        known = CITED_BENCHMARKS[self.benchmark]
        return f"{known.title}: {setting_text(known, self.params)}"

    @property
    def is_decode(self) -> bool:
        return phase_of(self.benchmark, self.params) == "decode"


@dataclass(frozen=True, slots=True, order=True)
class MemoryShare:
    """The share of its published bandwidth, in B/s, that one card reads of weights while it decodes."""

    share: float
    bandwidth: float

    @property
    def reads(self) -> float:
        return self.share * self.bandwidth


@dataclass(frozen=True, kw_only=True)
class HostRow:
    """A public host in the list. What the source does not say is "" or NOT_REPORTED where it can be filtered by.

    `name`: the title up to its first comma; `accelerators`: slugs of public sheets, the first card first; `results`:
    test -> its best result; `memory`: its best use of published bandwidth.
    """

    pk: int
    slug: str
    title: str
    vendor: str
    vendor_name: str
    cards: str
    accelerators: tuple[str, ...]
    generation: str
    form: str
    system: str
    family: str
    seen_on: date
    source_url: str
    torch: str
    driver: str
    macos: str
    cuda: str
    mlx: str
    engines: tuple[str, ...]
    software: tuple[str, ...]
    teaches: str
    words: str
    results: Mapping[str, CitedResult]
    counted_results: int
    memory: MemoryShare | None

    @property
    def name(self) -> str:
        """`2x RTX 3090, Ubuntu 24.04` -> `2 × RTX 3090`."""
        return _TIMES.sub(r"\1 × ", self.title.partition(", ")[0])

    @property
    def url(self) -> str:
        """In the reader's language."""
        return address_by_name("machines:host", self.slug)

    @property
    def month(self) -> str:
        return f"{self.seen_on:%Y-%m}"

    @property
    def subject(self) -> str:
        return f"host:{self.slug}"

    @property
    def css(self) -> str:
        return hue_of(self.vendor).css


@dataclass(frozen=True)
class KnownHosts:
    """All public hosts, last described first, and the tests they have results of, those of most hosts first.

    `counts`: facet -> how many hosts have each of its values, as far as somebody counted.
    """

    edition: tuple[str, ...]
    rows: tuple[HostRow, ...]
    tests: Mapping[str, HostTest]
    counts: dict[str, Counter[str]] = field(default_factory=dict)

    @cached_property
    def by_slug(self) -> Mapping[str, HostRow]:
        return {row.slug: row for row in self.rows}


@dataclass(frozen=True, slots=True)
class _Lookup:
    """What rows are made with, read once for all."""

    catalogue: PublicCatalogue
    published: Mapping[int, Published]
    tables: Tables
    cards: Mapping[int, list[HostCard]]
    components: Mapping[int, dict[str, HostComponent]]
    vendors: Mapping[int, Vendor]


def known_hosts() -> KnownHosts:
    """Return the public hosts of this edition. One query; four more in a process that has not read it yet."""
    return _known((HostEdition.current(), edition_of_cases(), Edition.current()))


@lru_cache(maxsize=2)
def _known(edition: tuple[str, ...]) -> KnownHosts:
    hosts = list(Host.objects.filter(state=Host.State.PUBLIC).order_by("-seen_on", "slug"))
    results = _results_by_host() if hosts else {}
    look = _look_up() if hosts else None
    return KnownHosts(
        edition=edition,
        rows=tuple(_host_row(host, results.get(host.pk, []), look) for host in hosts if look),
        tests=_tests(results),
    )


def _look_up() -> _Lookup:
    """Read what the rows are made with. Three queries."""
    cards: dict[int, list[HostCard]] = defaultdict(list)
    for card in HostCard.objects.order_by("host_id", "index").only(*_OF_CARDS):
        cards[card.host_id].append(card)
    components: dict[int, dict[str, HostComponent]] = defaultdict(dict)
    for component in HostComponent.objects.order_by("host_id", "name").only(*_OF_COMPONENTS):
        components[component.host_id][component.name] = component
    vendors = Vendor.objects.in_bulk()
    return _Lookup(public_catalogue(), peaks_by_accelerator(), rule_tables(), cards, components, vendors)


def _results_by_host() -> dict[int, list[CitedResult]]:
    by_host: dict[int, list[CitedResult]] = defaultdict(list)
    shown = CitedResult.objects.filter(host__state=Host.State.PUBLIC, state__in=SHOWN_OF_HOSTS)
    for result in shown.order_by("pk").only(*_OF_RESULTS):
        if result.host_id is not None and result.benchmark in CITED_BENCHMARKS:
            by_host[result.host_id].append(result)
    return by_host


def _test_key(result: CitedResult) -> str:
    return f"{result.benchmark}.{result.params_key[:12]}"


def _tests(results: Mapping[int, Iterable[CitedResult]]) -> dict[str, HostTest]:
    samples: dict[str, CitedResult] = {}
    hosts: Counter[str] = Counter()
    for of_host in results.values():
        keys = {_test_key(result): result for result in of_host}
        hosts.update(keys.keys())
        samples |= keys
    tests = [
        HostTest(
            key=key,
            benchmark=result.benchmark,
            params=CITED_BENCHMARKS[result.benchmark].compared_params(result.params),
            hosts=hosts[key],
        )
        for key, result in samples.items()
    ]
    tests.sort(key=lambda test: (-test.hosts, not test.is_decode, test.key))
    return {test.key: test for test in tests}


def _host_row(host: Host, results: Iterable[CitedResult], look: _Lookup) -> HostRow:
    host.vendor = look.vendors[host.vendor_id]
    cards, components = look.cards.get(host.pk, []), look.components.get(host.pk, {})
    results = list(results)
    sheets = look.catalogue.by_pk
    of_cards = [sheets[card.accelerator_id] for card in cards if card.accelerator_id in sheets]
    names = Counter(
        sheets[card.accelerator_id].drawn_name if card.accelerator_id in sheets else card.reported_name
        for card in cards
    )
    driver, software = _driver(host, cards, components, look.tables), _software(components)
    words = [host.title, host.slug, host.system, host.cpu, host.note, host.teaches, driver, *software, *names]
    words += [card.reported_name for card in cards] + [sheet.name for sheet in of_cards]
    return HostRow(
        pk=host.pk,
        slug=host.slug,
        title=host.title,
        vendor=host.vendor.slug,
        vendor_name=host.vendor.name,
        cards=", ".join(format_count(name, count) for name, count in names.items()),
        accelerators=tuple(dict.fromkeys(sheet.slug for sheet in of_cards)),
        generation=_generation(host, cards, look.catalogue),
        form=host.form or NOT_REPORTED,
        system=host.system,
        family=_family(host),
        seen_on=host.seen_on,
        source_url=host.source_url,
        torch=_minor(components.get("pytorch")),
        driver=driver,
        macos=_macos(host, components),
        cuda=_first_minor(components, _MAIN[0][1]),
        mlx=_minor(components.get("mlx")),
        engines=_engines(components),
        software=software,
        teaches=host.teaches,
        words=" ".join(words).casefold(),
        results=_best_of_tests(results),
        counted_results=len(results),
        memory=_memory_share(results, look.published),
    )


def _best_of_tests(results: Iterable[CitedResult]) -> dict[str, CitedResult]:
    best: dict[str, CitedResult] = {}
    for result in results:
        key = _test_key(result)
        sign = 1 if CITED_BENCHMARKS[result.benchmark].higher_is_better else -1
        if key not in best or sign * result.amount > sign * best[key].amount:
            best[key] = result
    return best


# --- what is filtered by ---


def _family(host: Host) -> str:
    if host.virtualisation == Host.Virtualisation.WSL2:
        return "wsl2"
    system = host.system.casefold()
    return next((family for part, family in _FAMILIES if part in system), "other" if system else NOT_REPORTED)


def _minor(component: HostComponent | None) -> str:
    """`2.8.0+cu128` -> `2.8`."""
    if component is not None and component.state == HostComponent.State.ABSENT:
        return ABSENT
    return (major_minor(component.value) if component is not None else "") or NOT_REPORTED


def _first_minor(components: Mapping[str, HostComponent], names: Iterable[str]) -> str:
    releases = (_minor(components[name]) for name in names if name in components)
    return next((value for value in releases if value not in (ABSENT, NOT_REPORTED)), NOT_REPORTED)


def _macos(host: Host, components: Mapping[str, HostComponent]) -> str:
    """The major release; "" on another system."""
    if _family(host) != "macos":
        return ""
    release = components["macos"].value if "macos" in components else ""
    version = numbers(release) or numbers(host.system.removeprefix("macOS").strip())
    return str(version[0]) if version else NOT_REPORTED


def _driver(host: Host, cards: Iterable[HostCard], components: Mapping[str, HostComponent], tables: Tables) -> str:
    """The branch of the NVIDIA driver; "" without a card of NVIDIA."""
    if host.vendor.slug != "nvidia":
        return ""
    stated = components["nvidia-driver"].value if "nvidia-driver" in components else ""
    driver = stated or next((card.driver_version for card in cards if card.driver_version), "")
    if match := _WINDOWS_DRIVER.fullmatch(driver):
        digits = match[1] + match[2]
        driver = f"{digits[:3]}.{digits[3:]}"
    if not numbers(driver):
        return NOT_REPORTED
    platform = "windows" if _family(host) in ("windows", "wsl2") else "linux"
    return driver_branch(tables, driver, platform) or str(numbers(driver)[0])


def _generation(host: Host, cards: Iterable[HostCard], catalogue: PublicCatalogue) -> str:
    """The architecture of the first card, of an Apple chip its number: `Ada Lovelace`, `M4`; "" where unknown."""
    for card in cards:
        if host.vendor.slug == "apple":
            match = _CHIP.search(card.reported_name)
            return match[0] if match else ""
        sheet = card.accelerator_id
        return next((value.value for value in catalogue.preferred(sheet, "architecture")), "") if sheet else ""
    return ""


def _engines(components: Mapping[str, HostComponent]) -> tuple[str, ...]:
    present = {name for name, row in components.items() if row.state != HostComponent.State.ABSENT}
    return tuple(engine for engine, (_title, names) in ENGINES.items() if present.intersection(names))


def _software(components: Mapping[str, HostComponent]) -> tuple[str, ...]:
    """`torch 2.8`, `vLLM`: what the list names of a host, without versions that its source does not say."""
    named = []
    for title, names in _MAIN:
        present = [components[name] for name in names if name in components]
        present = [row for row in present if row.state != HostComponent.State.ABSENT]
        if present:
            version = next((major_minor(row.value) or row.value for row in present if row.value), "")
            named.append(f"{title} {version}".rstrip())
    return tuple(named)


# --- how near to its memory ---


def _memory_share(results: Iterable[CitedResult], published: Mapping[int, Published]) -> MemoryShare | None:
    """The largest share of published bandwidth that decoding on one card reached; None where none is known."""
    decoding = [result for result in results if phase_of(result.benchmark, result.params) == "decode"]
    bounds = [bound for result in decoding if (bound := host_bound(result, published))]
    return max((MemoryShare(bound.share, bound.peak) for bound in bounds if bound.share), default=None)
