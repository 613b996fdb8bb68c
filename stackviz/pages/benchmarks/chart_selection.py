"""What an address asks of the pages: accelerators, data types, a benchmark. The state of a page. No database."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from django.http import QueryDict
from django.utils.translation import gettext as _

from stackviz.web.address import AddressReader, Note

FORMATS = ("csv", "json")
ROOFLINE_FORMATS = (*FORMATS, "svg")
FIGURE = "plotly"  # for plotly.js only, so notes do not offer it
MOST_ACCELERATORS = 6
DTYPES = ("bf16", "fp16", "fp8", "fp4", "int8", "tf32", "fp32", "fp64")  # of RATE_FIELDS
ROOFLINE_ACCELERATORS = ("nvidia-h100-sxm5-80gb", "nvidia-geforce-rtx-4090", "apple-m3-max-40")
ROOFLINE_DTYPES = ("bf16", "fp32")
BANDWIDTH = "bandwidth"  # of the memory; the other peaks are named by their data type
_BESIDE = frozenset({"format", "page"})


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
    """Read the address. `names`: slug -> name of the public accelerators; either may stand in the address."""
    reader = AddressReader(parameters)
    slugs = read_accelerators(reader, names, MOST_ACCELERATORS)
    dtypes = reader.choices("dtype", DTYPES, _("data type"))
    usual = tuple(slug for slug in ROOFLINE_ACCELERATORS if slug in names)
    return RooflineChoice(
        slugs=slugs or usual,
        dtypes=tuple(dtype for dtype in DTYPES if dtype in dtypes) if dtypes else ROOFLINE_DTYPES,
        format=reader.file_format(ROOFLINE_FORMATS, FIGURE),
        notes=reader.notes(_BESIDE | {"a", "dtype"}),
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
        format=reader.file_format(FORMATS, FIGURE),
        notes=reader.notes(_BESIDE | {"of", "benchmark"}),
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
        format=reader.file_format(FORMATS, FIGURE),
        notes=reader.notes(_BESIDE | {"curve", "setting", "a"}),
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
