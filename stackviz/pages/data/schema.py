"""The schema of the dump: every table with its columns, their types, units and meanings. No database.

The page `/data/schema/`, the manifest and the files are made from it. A change of tables or columns needs a new
SCHEMA_VERSION: the first number for a breaking change, the second for an addition.
"""

import hashlib
from dataclasses import dataclass
from typing import Literal

SCHEMA_VERSION = "2.2"
# `schema_fingerprint()` of the tables of each version: a test fails if they change without a new version.
FINGERPRINTS = {
    "1.0": "a18ca6d80c56ace7",
    "1.1": "e8c946a55d644c8c",
    "1.2": "e14ec83e6f151c15",
    "1.3": "a467c7ae19a9c811",
    "1.4": "58d8190474e28fa5",
    "1.5": "454ad81e330660bf",
    "2.0": "fdc89ee598b36c76",
    "2.1": "b4fcc8e040361f92",
    "2.2": "816db065cea9df28",
}

Type = Literal["text", "integer", "number", "truth", "moment", "json"]

# What a type is in each format.
TYPES: dict[Type, str] = {
    "text": "text in UTF-8; never empty: unknown is null",
    "integer": "64-bit integer",
    "number": "64-bit floating point number, always finite",
    "truth": "`true` or `false`",
    "moment": "time in UTC: `2026-11-20T16:00:00.000000Z`, in Parquet a timestamp in microseconds",
    "json": "any JSON value: as is in JSON Lines, as text in CSV and Parquet",
}


@dataclass(frozen=True, slots=True)
class ColumnSchema:
    """One column. `unit`: of all its numbers; "" for none, or where another column holds it."""

    name: str
    type: Type
    meaning: str
    unit: str = ""
    may_be_null: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSchema:
    """One table. `key`: the columns that identify a row; `of_machines`: whether it has data of machines."""

    name: str
    title: str
    meaning: str
    key: tuple[str, ...]
    columns: tuple[ColumnSchema, ...]
    of_machines: bool = False


def _must(name: str, type_: Type, meaning: str, unit: str = "") -> ColumnSchema:
    """A column that is never null."""
    return ColumnSchema(name, type_, meaning, unit, may_be_null=False)


_SOURCE = ColumnSchema("source", "text", "key of the source, in `sources`")
_NOTE = ColumnSchema("note", "text", "further remarks")
_LAB = _must("lab", "text", "slug of its public lab")
_MACHINE = _must("machine", "text", "slug of the machine within its lab")

TABLES: tuple[TableSchema, ...] = (
    TableSchema(
        name="vendors",
        title="Vendors",
        meaning="Companies that sell an accelerator of this catalogue.",
        key=("slug",),
        columns=(
            _must("slug", "text", "identifies the vendor in other tables"),
            _must("name", "text", "display name"),
        ),
    ),
    TableSchema(
        name="sources",
        title="Sources",
        meaning="Public documents cited by rows of other tables.",
        key=("key",),
        columns=(
            _must("key", "text", "identifies the document in other tables"),
            _must("title", "text", "title of the document"),
            _must("url", "text", "address of the document"),
            _must(
                "kind", "text", "`maker` (the vendor), `device` (reading from real hardware), `press` or `community`"
            ),
            ColumnSchema(
                "read_as", "text", "how it was read: `first-hand`, `copy`, `quote` or `excerpt`; null: not recorded"
            ),
            ColumnSchema("read_on", "text", "day on which it was read (2026-11-20)"),
        ),
    ),
    TableSchema(
        name="fields",
        title="Fields",
        meaning="The fields of spec sheets.",
        key=("name",),
        columns=(
            _must("name", "text", "identifies the field in `spec_values`"),
            _must("title", "text", "display name"),
            ColumnSchema("unit", "text", "unit in which it is shown; null for text"),
            _must("group", "text", "heading on the spec sheet"),
            _must("meaning", "text", "definition in one sentence"),
            ColumnSchema("higher_is_better", "truth", "whether higher is better; null where neither direction is"),
            _must("is_headline", "truth", "whether it is a headline of every spec sheet"),
        ),
    ),
    TableSchema(
        name="accelerators",
        title="Accelerators",
        meaning="Products as their vendors list them; each variant of a chip is a row.",
        key=("slug",),
        columns=(
            _must("slug", "text", "identifies the accelerator in other tables and in addresses"),
            _must("name", "text", "display name"),
            _must("vendor", "text", "slug of its vendor, in `vendors`"),
            _must("kind", "text", "`gpu`, `soc`, `npu` or `asic`"),
            ColumnSchema("family", "text", "shared by the variants of one chip"),
        ),
    ),
    TableSchema(
        name="spec_values",
        title="Spec values",
        meaning="Published values: one value of one field of an accelerator under one condition from one source.",
        key=("accelerator", "field", "condition", "value", "source"),
        columns=(
            _must("accelerator", "text", "slug, in `accelerators`"),
            _must("field", "text", "name, in `fields`"),
            _must("value", "text", "as the source prints it, without the unit"),
            ColumnSchema("unit", "text", "as the source prints it; null for text"),
            ColumnSchema("amount", "number", "the value in `amount_unit`; null for text"),
            ColumnSchema("amount_unit", "text", "SI base unit of `amount`: FLOP/s, op/s, B, B/s, W, Hz, m2, USD ..."),
            ColumnSchema(
                "condition",
                "text",
                "condition under which it holds: `key=value; ...` Compare only values of equal conditions",
            ),
            _must("status", "text", "`preferred`: shown for its field and condition; `alternative`: of another source"),
            _must(
                "basis",
                "text",
                "how the source obtained it: `published`, `probed`, `measured`, `derived` or `inferred`",
            ),
            _must("source", "text", "key of the source, in `sources`"),
            _NOTE,
            ColumnSchema("checked_at", "moment", "when a curator last checked it against the source"),
        ),
    ),
    TableSchema(
        name="prices",
        title="Prices",
        meaning="Street prices and rents per hour, each of its seller and day, if known; launch prices are values.",
        key=("accelerator", "kind", "currency", "day", "seller", "offer", "cards", "source"),
        columns=(
            _must("accelerator", "text", "slug, in `accelerators`"),
            _must("kind", "text", "`street` or `rent` (per hour)"),
            _must("amount", "number", "in `currency`, for `cards` together, as printed; nothing is converted"),
            _must("currency", "text", "code of ISO 4217"),
            _must("cards", "integer", "how many accelerators the amount is for"),
            _must(
                "day",
                "text",
                "day of the offer (2025-11-30), its month (2026-02), or `undated` if no source dates it",
            ),
            _must("seller", "text", "the shop, or the cloud and its region"),
            ColumnSchema("offer", "text", "the model, instance or terms"),
            _must("status", "text", "`preferred`, or `alternative`: of another source"),
            _must("source", "text", "key of the source, in `sources`"),
            _NOTE,
        ),
    ),
    TableSchema(
        name="aliases",
        title="Aliases",
        meaning="Names that drivers, tools and shops use for an accelerator, each with a source.",
        key=(),
        columns=(
            _must("accelerator", "text", "slug, in `accelerators`"),
            _must("name", "text", "as it is reported"),
            _must(
                "kind", "text", "`reported`, `machine` (model of the machine), `product`, or `undecided` (ambiguous)"
            ),
            ColumnSchema("memory_bytes", "integer", "the name applies only to cards with this much memory", "B"),
            ColumnSchema("gpu_cores", "integer", "the name applies only to chips with this many GPU cores"),
            _must("source", "text", "key of the source, in `sources`"),
            _NOTE,
        ),
    ),
    TableSchema(
        name="stacks",
        title="Stacks",
        meaning="Described stacks, from silicon to the program.",
        key=("slug",),
        columns=(
            _must("slug", "text", "identifies the stack in other tables"),
            _must("name", "text", "display name"),
            ColumnSchema("vendor", "text", "slug of the vendor of its accelerators"),
            ColumnSchema("system", "text", "`linux`, `windows` or `macos`; null for any"),
            _must("summary", "text", "description"),
        ),
    ),
    TableSchema(
        name="components",
        title="Components",
        meaning="Pieces of software and hardware that make up stacks.",
        key=("slug",),
        columns=(
            _must("slug", "text", "identifies the component in other tables and in reports"),
            _must("name", "text", "display name"),
            ColumnSchema("maker", "text", "vendor or project"),
            _must("layer", "text", "one of the eight layers"),
            _must("role", "text", "its role in the layer"),
            ColumnSchema("part_of", "text", "slug of the component that ships it"),
            _must("what_it_is", "text", "one sentence"),
            _must("what_it_does", "text", "one sentence"),
            ColumnSchema("see_version", "text", "how to find its version"),
            ColumnSchema("docs_url", "text", "address of its documentation"),
            _SOURCE,
        ),
    ),
    TableSchema(
        name="placements",
        title="Placements",
        meaning="The components of each stack.",
        key=("stack", "component"),
        columns=(
            _must("stack", "text", "slug, in `stacks`"),
            _must("component", "text", "slug, in `components`"),
            _must("order", "integer", "position within its layer"),
            ColumnSchema("version", "text", "a requirement (`>= 525.60.13`) or a device name"),
            ColumnSchema("role", "text", "its role in this stack if it differs from the usual one"),
            _NOTE,
            ColumnSchema("since", "text", "exists from this release or architecture on (`pytorch 2.0`)"),
            ColumnSchema("until", "text", "exists up to this release or architecture"),
        ),
    ),
    TableSchema(
        name="counterparts",
        title="Counterparts",
        meaning="Components with the same role in other stacks, and what differs.",
        key=(),
        columns=(
            _must("component", "text", "slug, in `components`"),
            _must("other", "text", "slug of the counterpart, in `components`"),
            _must("relation", "text", "`same-role` or `partial`"),
            _must("differs", "text", "what differs"),
            _SOURCE,
        ),
    ),
    TableSchema(
        name="unfilled_roles",
        title="Unfilled roles",
        meaning="Roles that no component of a stack has, and what does their job there.",
        key=("stack", "role"),
        columns=(
            _must("stack", "text", "slug, in `stacks`"),
            _must("role", "text", "as in `components`"),
            ColumnSchema("done_by", "text", "slug of the component that does the job; null if nothing does"),
            _must("explanation", "text", "how it does, or why nothing does"),
            _SOURCE,
        ),
    ),
    TableSchema(
        name="releases",
        title="Releases",
        meaning="Releases of components, or release lines where the source describes a line.",
        key=("component", "version", "variant"),
        columns=(
            _must("component", "text", "slug, in `components`"),
            _must("version", "text", "as its publisher writes it"),
            ColumnSchema("variant", "text", "build or platform, if a version has several"),
            ColumnSchema("line", "text", "`LTS`, `production`, `Update 1` ..."),
            ColumnSchema("released", "text", "day (2026-11-20) or month (2026-11), as exact as the source"),
            ColumnSchema("support_ends", "text", "day or month"),
            _SOURCE,
            _NOTE,
        ),
    ),
    TableSchema(
        name="requirements",
        title="Requirements",
        meaning="What a release needs, ships, offers or supports.",
        key=("component", "version", "variant", "platform", "relation", "subject", "part"),
        columns=(
            _must("component", "text", "slug of the release's component, in `components`"),
            _must("version", "text", "of the release, in `releases`"),
            ColumnSchema("variant", "text", "of the release"),
            ColumnSchema("platform", "text", "platform it applies to; null for all"),
            _must("relation", "text", "`needs`, `ships`, `offers`, `supports`, `built-for` or `compiles-for`"),
            _must("subject", "text", "slug of a component, or a keyword such as `compute-capability`"),
            ColumnSchema("part", "text", "part of the release it applies to"),
            ColumnSchema("low", "text", "minimum version"),
            ColumnSchema("values", "text", "exactly these, separated by spaces"),
            _must("confidence", "text", "`high`, `medium` or `low`"),
            _SOURCE,
            _NOTE,
        ),
    ),
    TableSchema(
        name="cited_sources",
        title="Sources of cited results",
        meaning="Public documents with results that their authors measured.",
        key=("key",),
        columns=(
            _must("key", "text", "identifies the document in `cited_results`"),
            _must("title", "text", "title of the document"),
            _must("url", "text", "address of the document"),
            _must("kind", "text", "`vendor`, `project`, `paper`, `press` or `community`"),
            ColumnSchema("licence", "text", "terms of the document, if it names any"),
            ColumnSchema("read_in", "text", "the copy it was read in; null for the original"),
        ),
    ),
    TableSchema(
        name="cited_results",
        title="Cited results",
        meaning="What others measured and published. Only results whose state is public are charted on the site.",
        key=("id",),
        columns=(
            _must("id", "integer", "identifies the result on the site"),
            ColumnSchema("accelerator", "text", "slug, in `accelerators`; null where no sheet is certain"),
            _must("reported_name", "text", "as the source calls it"),
            _must("count", "integer", "devices that worked together"),
            _must("benchmark", "text", "key of the cited benchmark"),
            _must("params", "json", "the setting, by name"),
            _must("value", "text", "as the source prints it, without the unit"),
            _must("unit", "text", "of the value"),
            _must("amount", "number", "the value in `amount_unit`"),
            _must("amount_unit", "text", "base unit of `amount`: FLOP/s, B/s, token/s, image/s, s, J/token ..."),
            _must("software", "json", "what the source says it ran on, by name"),
            ColumnSchema("date", "text", "day of the run or of the document (2026-11-20)"),
            _must("source", "text", "key of the source, in `cited_sources`"),
            _NOTE,
            _must("state", "text", "`public`, `unmatched` (no sheet is certain) or `doubtful`"),
            ColumnSchema("reason", "text", "why it is doubtful"),
            ColumnSchema("host", "text", "slug, in `hosts`; null where the source describes no machine"),
        ),
    ),
    TableSchema(
        name="hosts",
        title="Public hosts",
        meaning="Machines that their owners described in public, as they were that day; null: the source does not say.",
        key=("host",),
        columns=(
            _must("host", "text", "slug, identifies the host in other tables"),
            _must("title", "text", "display name"),
            _must("vendor", "text", "slug of the vendor of its first accelerator"),
            ColumnSchema("form", "text", "`desktop`, `laptop`, `mini`, `server` or `cloud`"),
            ColumnSchema("system", "text", "operating system with its release"),
            ColumnSchema("kernel", "text", "release of the kernel"),
            ColumnSchema("cpu", "text", "name of the processor"),
            ColumnSchema("cpu_cores", "integer", "physical cores"),
            ColumnSchema("memory_bytes", "integer", "main memory", "B"),
            ColumnSchema("virtualisation", "text", "`bare`, `wsl2`, `container` or `vm`"),
            _must("seen_on", "text", "day of the description (2026-11-20)"),
            _must("is_month_only", "truth", "the source names the month only; `seen_on` is its first day"),
            _must("source_url", "text", "address of the description"),
            _must("source_kind", "text", "`repository`, `issue` or `post`"),
            _NOTE,
            ColumnSchema("teaches", "text", "the fault or setting that others can learn from"),
        ),
        of_machines=True,
    ),
    TableSchema(
        name="host_cards",
        title="Cards of public hosts",
        meaning="Accelerators in these hosts, as the source reports them.",
        key=("host", "index"),
        columns=(
            _must("host", "text", "slug, in `hosts`"),
            _must("index", "integer", "index of the card in its host"),
            _must("reported_name", "text", "as the source calls it"),
            ColumnSchema("accelerator", "text", "slug, in `accelerators`; null where the source leaves variants open"),
            ColumnSchema("memory_bytes", "integer", "as reported", "B"),
            ColumnSchema("driver_version", "text", "of the loaded driver"),
            ColumnSchema("power_limit_w", "number", "the limit that is set", "W"),
            ColumnSchema("pcie_generation", "integer", "the highest that the card reports in its slot"),
            ColumnSchema("pcie_lanes", "integer", "negotiated"),
            ColumnSchema("compute_capability", "text", "or the gfx name of AMD"),
            ColumnSchema("gpu_cores", "integer", "of an Apple chip"),
        ),
        of_machines=True,
    ),
    TableSchema(
        name="host_components",
        title="Software of public hosts",
        meaning="Components with their versions, and facts with their values, as the source states them.",
        key=("host", "name"),
        columns=(
            _must("host", "text", "slug, in `hosts`"),
            _must("name", "text", "of a component or of a fact of the report format (`torch.cuda_version`)"),
            ColumnSchema(
                "value", "text", "version or value; null where the component is absent or its version is not said"
            ),
            _must("state", "text", "`installed`, `absent` or `unknown` (there, version not said)"),
        ),
        of_machines=True,
    ),
    TableSchema(
        name="machines",
        title="Machines",
        meaning="Machines of public labs, as described by the newest report of each.",
        key=("lab", "machine"),
        columns=(
            _LAB,
            _must("lab_name", "text", "display name"),
            _MACHINE,
            _must("machine_name", "text", "display name"),
            _must("taken_at", "moment", "time of the report by the clock of the machine"),
            _must("report", "text", "id of the report"),
            ColumnSchema("agent", "text", "name and version of the program that sent it"),
            _must("facts", "json", "facts of the machine by name, in SI units"),
            _must("software", "json", "list of component, version and how it was detected"),
        ),
        of_machines=True,
    ),
    TableSchema(
        name="cards",
        title="Cards",
        meaning="Accelerators in these machines, as their drivers report them.",
        key=("lab", "machine", "index"),
        columns=(
            _LAB,
            _MACHINE,
            _must("index", "integer", "index of the card in its machine"),
            _must("kind", "text", "as reported"),
            _must("vendor", "text", "as reported"),
            _must("reported_name", "text", "as the driver writes it"),
            ColumnSchema("accelerator", "text", "slug in `accelerators`; null where the name is not matched"),
            ColumnSchema("memory_bytes", "integer", "as reported", "B"),
            _must("facts", "json", "facts of the card by name, in SI units"),
        ),
        of_machines=True,
    ),
    TableSchema(
        name="results",
        title="Results",
        meaning="The newest result of every benchmark and setting on these machines, failed runs included.",
        key=(),
        columns=(
            _LAB,
            _MACHINE,
            _must("benchmark", "text", "key of the benchmark"),
            _must("version", "integer", "of the benchmark; results of different versions are not comparable"),
            _must("device", "text", "PyTorch device that ran it"),
            ColumnSchema("card", "integer", "index of the card, in `cards`; null for a run without a card"),
            _must("params", "json", "the setting; results with equal settings are comparable"),
            _must("measured_at", "moment", "time of the run"),
            _must("state", "text", "`ok`, `failed` or `skipped`"),
            ColumnSchema("reason", "text", "why it failed or was skipped"),
            _must("unit", "text", "of `median`, `q1`, `q3`, `low` and `high`"),
            ColumnSchema("median", "number", "of the samples"),
            ColumnSchema("q1", "number", "first quartile of the samples"),
            ColumnSchema("q3", "number", "third quartile of the samples"),
            ColumnSchema("low", "number", "lower end of the 95 % interval of the median; null for too few samples"),
            ColumnSchema("high", "number", "upper end of that interval"),
            _must("sample_count", "integer", "number of samples"),
            ColumnSchema("rate", "number", "work of one run divided by the median; null if the benchmark has none"),
            ColumnSchema("rate_unit", "text", "of the rate"),
            ColumnSchema("flags", "text", "codes of what is odd, blanks between; null for nothing"),
            ColumnSchema("standing", "text", "`flagged`, `withdrawn`, `superseded` (all set aside) or `accepted`"),
            _must("report", "text", "id of its report"),
            _must("conditions", "json", "clocks, power, throttling and device used, as sent"),
        ),
        of_machines=True,
    ),
)


def schema_fingerprint(tables: tuple[TableSchema, ...] = TABLES) -> str:
    """Hash of the names, types and units of all columns: changes with everything that programs rely on."""
    shape = [
        (table.name, [(column.name, column.type, column.unit, column.may_be_null) for column in table.columns])
        for table in tables
    ]
    return hashlib.sha256(repr(shape).encode()).hexdigest()[:16]
