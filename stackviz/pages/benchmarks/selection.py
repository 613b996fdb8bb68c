"""What an address asks of a ranking, a roofline, a share or a curve. The state of these pages."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from django.http import QueryDict
from django.utils.translation import gettext as _

from stackviz.records.catalog.models import Accelerator
from stackviz.records.catalog.queries import public_catalogue
from stackviz.records.cited.benchmark import CitedBenchmark
from stackviz.records.cited.cases import BenchmarkCases, benchmark_cases, edition_of_cases
from stackviz.records.cited.words import facet_title
from stackviz.records.series.measured_settings import measured_settings
from stackviz.web.http.address import AddressReader, Note, whole_number

FORMATS = ("csv", "json")
DRAWING_FORMATS = (*FORMATS, "svg")
FIGURE = "plotly"  # for plotly.js only, so notes do not offer it
MOST_ACCELERATORS = 6
DTYPES = ("bf16", "fp16", "fp8", "fp4", "int8", "tf32", "fp32", "fp64")  # of RATE_FIELDS
ROOFLINE_ACCELERATORS = ("nvidia-h100-sxm5-80gb", "nvidia-geforce-rtx-4090", "apple-m3-max-40")
ROOFLINE_DTYPES = ("bf16", "fp32")
BANDWIDTH = "bandwidth"  # of the memory; the other peaks are named by their data type
_OF_CHARTS = frozenset({"format", "page"})
ANY_NUMBER = "any"
_OF_RANKINGS = frozenset({"case", "devices", "format", "kind", "measured", "page", "vendor"})


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedChoice:
    """`chosen`: facets with their values as text; `case`: the params_key of one case; `devices`: "" is automatic.

    `measured`: key of a setting that machines measured; `vendor`, `kind`: of the accelerators shown, "" for all, whose
    ranks stay those among all.
    """

    chosen: Mapping[str, str]
    case: str = ""
    devices: str = ""
    measured: str = ""
    vendor: str = ""
    kind: str = ""
    format: str = ""
    notes: tuple[Note, ...] = field(default=(), compare=False)

    @property
    def query(self) -> QueryDict:
        """The choice as parameters, without defaults."""
        query = QueryDict(mutable=True)
        beside = (
            ("case", self.case), ("devices", self.devices), ("measured", self.measured), ("vendor", self.vendor),
            ("kind", self.kind),
        )  # fmt: skip
        for name, value in (*self.chosen.items(), *beside):
            if value:
                query[name] = value
        return query

    @property
    def query_string(self) -> str:
        return self.query.urlencode()

    def shows(self, accelerator: Accelerator) -> bool:
        return self.vendor in ("", accelerator.vendor.slug) and self.kind in ("", accelerator.kind)


def read_choice(parameters: QueryDict, benchmark: CitedBenchmark) -> CitedChoice:
    """Read the address of a benchmark's page. Raises nothing; what is not known is ignored with a note."""
    reader = AddressReader(parameters)
    measured_keys = {setting.key for setting in measured_settings(benchmark.key)} if "measured" in parameters else set()
    cases, values = benchmark_cases(benchmark.key), facet_values(benchmark.key)
    chosen = {name: reader.choice(name, values[name], facet_title(name)) for name in values}
    case = reader.choice("case", cases.cases, _("setting"))
    chosen = {name: value for name, value in chosen.items() if value}
    if case and not _agrees(cases, case, chosen):
        reader.note("case", _("The setting in this address does not have these parameters"))
        case = ""
    problem = _("“%(value)s” is not a number of devices")
    return CitedChoice(
        chosen=chosen,
        case=case,
        measured=reader.choice("measured", measured_keys, _("measured setting")),
        devices=reader.parsed("devices", _number, problem) or "",
        vendor=reader.choice("vendor", {item.vendor.slug for item in public_catalogue().accelerators}, _("vendor")),
        kind=reader.choice("kind", Accelerator.Kind.values, _("kind")),
        format=reader.text("format"),
        notes=reader.notes(_OF_RANKINGS | values.keys()),
    )


def facet_values(key: str) -> Mapping[str, frozenset[str]]:
    """Facet -> all values that public results of this benchmark have."""
    return _facet_values(edition_of_cases(), key)


@lru_cache(maxsize=40)
def _facet_values(_edition: str, key: str) -> Mapping[str, frozenset[str]]:
    facets = benchmark_cases(key).cited_facets({})
    return {facet.name: frozenset(str(option.value) for option in facet.options) for facet in facets}


def _agrees(cases: BenchmarkCases, case: str, chosen: Mapping[str, str]) -> bool:
    return any(match.params_key == case for match in cases.cases_matching(chosen))


def _number(text: str) -> str | None:
    if text == ANY_NUMBER:
        return text
    number = whole_number(text, max_digits=6)
    return str(number) if number else None


@dataclass(frozen=True, slots=True, kw_only=True)
class RooflineChoice:
    """`slugs`: one to six accelerators, in order of their colours; `dtypes`: at least one."""

    slugs: tuple[str, ...] = ROOFLINE_ACCELERATORS
    dtypes: tuple[str, ...] = ROOFLINE_DTYPES
    format: str = field(default="", compare=False)
    notes: tuple[Note, ...] = field(default=(), compare=False)

    @property
    def query(self) -> QueryDict:
        """The choice as parameters, without defaults."""
        query = QueryDict(mutable=True)
        if self.slugs != ROOFLINE_ACCELERATORS:
            query.setlist("a", list(self.slugs))
        if self.dtypes != ROOFLINE_DTYPES:
            query.setlist("dtype", list(self.dtypes))
        return query

    @property
    def query_string(self) -> str:
        return self.query.urlencode()


def roofline_choice(parameters: QueryDict, names: Mapping[str, str]) -> RooflineChoice:
    """Read the address. `names`: slug -> name of the public accelerators; the address may contain either."""
    reader = AddressReader(parameters)
    slugs = read_accelerators(reader, names, MOST_ACCELERATORS)
    dtypes = reader.choices("dtype", DTYPES, _("data type"))
    usual = tuple(slug for slug in ROOFLINE_ACCELERATORS if slug in names)
    return RooflineChoice(
        slugs=slugs or usual,
        dtypes=tuple(dtype for dtype in DTYPES if dtype in dtypes) if dtypes else ROOFLINE_DTYPES,
        format=reader.text("format"),
        notes=reader.notes(_OF_CHARTS | {"a", "dtype"}),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareChoice:
    """`of`: BANDWIDTH or a data type; `benchmark`: the key of one cited benchmark, "" for all and what is measured."""

    of: str = BANDWIDTH
    benchmark: str = ""
    format: str = field(default="", compare=False)
    notes: tuple[Note, ...] = field(default=(), compare=False)

    @property
    def query(self) -> QueryDict:
        """The choice as parameters, without defaults."""
        query = QueryDict(mutable=True)
        if self.of != BANDWIDTH:
            query["of"] = self.of
        if self.benchmark:
            query["benchmark"] = self.benchmark
        return query

    @property
    def query_string(self) -> str:
        return self.query.urlencode()


def share_choice(parameters: QueryDict, benchmarks: Callable[[str], Collection[str]]) -> ShareChoice:
    """Read the address. `benchmarks`: peak -> the keys of those that reach for it."""
    reader = AddressReader(parameters)
    of = reader.choice("of", (BANDWIDTH, *DTYPES), _("peak"), BANDWIDTH)
    return ShareChoice(
        of=of,
        benchmark=reader.choice("benchmark", benchmarks(of), _("benchmark")),
        format=reader.text("format"),
        notes=reader.notes(_OF_CHARTS | {"of", "benchmark"}),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalingChoice:
    """`kind`: key of what is drawn; `setting`: as `curves.setting_key` writes it, "" for that of most accelerators.

    `slugs`: at most six accelerators, () for the usual ones.
    """

    kind: str
    setting: str = ""
    slugs: tuple[str, ...] = ()
    usual_kind: str = field(default="", compare=False)
    format: str = field(default="", compare=False)
    notes: tuple[Note, ...] = field(default=(), compare=False)

    @property
    def query(self) -> QueryDict:
        """The choice as parameters, without defaults."""
        query = QueryDict(mutable=True)
        if self.kind != self.usual_kind:
            query["curve"] = self.kind
        if self.setting:
            query["setting"] = self.setting
        if self.slugs:
            query.setlist("a", list(self.slugs))
        return query

    @property
    def query_string(self) -> str:
        return self.query.urlencode()


def scaling_choice(
    parameters: QueryDict, names: Mapping[str, str], settings: Mapping[str, Callable[[], Collection[str]]]
) -> ScalingChoice:
    """Read the address. `settings`: kind -> the settings it has curves of, read when they are needed."""
    reader = AddressReader(parameters)
    usual = next(iter(settings))
    kind = reader.choice("curve", settings, _("curve"), usual)
    return ScalingChoice(
        kind=kind,
        setting=reader.choice("setting", settings[kind](), _("setting")),
        slugs=read_accelerators(reader, names, MOST_ACCELERATORS),
        usual_kind=usual,
        format=reader.text("format"),
        notes=reader.notes(_OF_CHARTS | {"curve", "setting", "a"}),
    )


def read_accelerators(reader: AddressReader, names: Mapping[str, str], most: int) -> tuple[str, ...]:
    """Slugs of the accelerators of the parameter `a`, given by slug or name; a note where there are too many."""
    slugs_by_name = {name: slug for slug, name in names.items()}
    given = reader.choices("a", [*names, *slugs_by_name], _("accelerator"))
    slugs = tuple(dict.fromkeys(slugs_by_name.get(value, value) for value in given))
    if len(slugs) > most:
        problem = _("At most %(most)d accelerators are drawn at once") % {"most": most}
        reader.note("a", problem, _("the first %(most)d are shown") % {"most": most})
    return slugs[:most]


def without(values: Sequence[str], value: str) -> tuple[str, ...]:
    return tuple(other for other in values if other != value)
