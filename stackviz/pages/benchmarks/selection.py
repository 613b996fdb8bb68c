"""What an address asks of a benchmark: its parameters, one case, a number of devices. The state of a page."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from django.http import QueryDict
from django.utils.translation import gettext as _

from stackviz.records.cited.benchmark import CitedBenchmark
from stackviz.records.cited.cases import BenchmarkCases, benchmark_cases, edition_of_cases
from stackviz.records.cited.words import facet_title
from stackviz.records.series.measured_settings import measured_settings
from stackviz.web.address import AddressReader, Note, whole_number

FORMATS = ("csv", "json", "svg")
ANY_NUMBER = "any"
_BESIDE = frozenset({"case", "devices", "format", "measured", "page"})


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedChoice:
    """`chosen`: facets with their values as text; `case`: the params_key of one case; `devices`: "" is automatic.

    `measured`: key of a setting that machines measured.
    """

    chosen: Mapping[str, str]
    case: str = ""
    devices: str = ""
    measured: str = ""
    format: str = ""
    notes: tuple[Note, ...] = field(default=(), compare=False)

    @property
    def query(self) -> QueryDict:
        """The choice as parameters, without defaults."""
        query = QueryDict(mutable=True)
        beside = (("case", self.case), ("devices", self.devices), ("measured", self.measured))
        for name, value in (*self.chosen.items(), *beside):
            if value:
                query[name] = value
        return query

    @property
    def query_string(self) -> str:
        return self.query.urlencode()


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
        format=reader.file_format(FORMATS),
        notes=reader.notes(_BESIDE | values.keys()),
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
