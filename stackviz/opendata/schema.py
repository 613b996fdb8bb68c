"""What the dump holds: every table with its columns, their types, units and meanings. The one place that says so.

The page `/data/schema/`, the manifest and the files themselves are made from this. A change of tables or columns needs
a new SCHEMA_VERSION: the first number where a reader of the old one would stumble, the second where something was new.
Needs no database.
"""

import hashlib
from dataclasses import dataclass
from typing import Literal

SCHEMA_VERSION = "1.0"
# Of every version there was, so that a change that forgets to raise it is found: `fingerprint()` of its tables.
FINGERPRINTS = {"1.0": "a18ca6d80c56ace7"}

Type = Literal["text", "integer", "number", "truth", "moment", "json"]

# What a type is in each format.
TYPES: dict[Type, str] = {
    "text": "text in UTF-8; never empty: unknown is null",
    "integer": "64-bit integer",
    "number": "64-bit floating point number, always finite",
    "truth": "true or false",
    "moment": "moment in UTC: 2026-11-20T16:00:00.000000Z, in Parquet a timestamp in microseconds",
    "json": "any JSON value: in JSON Lines as it is, in CSV and Parquet as its text",
}


@dataclass(frozen=True, slots=True)
class Column:
    """One column. `unit`: a fixed unit of its numbers, "" for none or where another column names it."""

    name: str
    type: Type
    meaning: str
    unit: str = ""
    may_be_null: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One table. `key`: the columns that name a row; `of_machines`: it says something of machines of public labs."""

    name: str
    title: str
    meaning: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]
    of_machines: bool = False


def _must(name: str, type_: Type, meaning: str, unit: str = "") -> Column:
    """A column that is never null."""
    return Column(name, type_, meaning, unit, may_be_null=False)


_SOURCE = Column("source", "text", "key of the document that says so, in `sources`")
_NOTE = Column("note", "text", "what else to know")
_LAB = _must("lab", "text", "slug of the public lab it stands in")
_MACHINE = _must("machine", "text", "slug of the machine within its lab")

TABLES: tuple[Table, ...] = (
    Table(
        name="vendors",
        title="Makers",
        meaning="Companies that sell an accelerator of this catalogue.",
        key=("slug",),
        columns=(
            _must("slug", "text", "names the maker in other tables"),
            _must("name", "text", "as people write it"),
        ),
    ),
    Table(
        name="sources",
        title="Sources",
        meaning="Public documents that a row of another table rests on.",
        key=("key",),
        columns=(
            _must("key", "text", "names the document in other tables"),
            _must("title", "text", "what the document is called"),
            _must("url", "text", "where it is"),
            _must("kind", "text", "maker, device (readout of a real device), press or community"),
        ),
    ),
    Table(
        name="fields",
        title="Fields",
        meaning="What a spec value can be about: the field registry.",
        key=("name",),
        columns=(
            _must("name", "text", "names the field in `spec_values`"),
            _must("title", "text", "as people read it"),
            Column("unit", "text", "unit people read it in; null for text"),
            _must("group", "text", "heading it stands under"),
            _must("meaning", "text", "what it says, in a sentence"),
            Column("higher_is_better", "truth", "which direction is better; null where neither is"),
            _must("is_headline", "truth", "whether every sheet shows it on top"),
        ),
    ),
    Table(
        name="accelerators",
        title="Accelerators",
        meaning="Products, each as its maker describes it; the variants of a chip are several.",
        key=("slug",),
        columns=(
            _must("slug", "text", "names the accelerator in other tables and in addresses"),
            _must("name", "text", "as people write it"),
            _must("vendor", "text", "slug of its maker, in `vendors`"),
            _must("kind", "text", "gpu, soc, npu or asic"),
            Column("family", "text", "shared by the variants of one chip"),
        ),
    ),
    Table(
        name="spec_values",
        title="Spec values",
        meaning="What is published about an accelerator: one value of one field under one condition from one source.",
        key=("accelerator", "field", "condition", "value", "source"),
        columns=(
            _must("accelerator", "text", "slug, in `accelerators`"),
            _must("field", "text", "name, in `fields`"),
            _must("value", "text", "as the source prints it, without the unit"),
            Column("unit", "text", "as the source prints it; null for text"),
            Column("amount", "number", "the same in `amount_unit`; null for text"),
            Column("amount_unit", "text", "the SI base unit of `amount`: FLOP/s, op/s, B, B/s, W, Hz, m2, USD ..."),
            Column(
                "condition",
                "text",
                "under which it holds: key=value; ... Only figures of one condition are to be compared",
            ),
            _must(
                "status", "text", "preferred: the one of its field and condition; alternative: another source beside it"
            ),
            _must("basis", "text", "how the source came by it: published, probed, measured, derived or inferred"),
            _must("source", "text", "key of the document that says so, in `sources`"),
            _NOTE,
            Column("checked_at", "moment", "when a curator last checked it against the source"),
        ),
    ),
    Table(
        name="aliases",
        title="Names",
        meaning="Names by which machines, tools and shops call an accelerator, each with a source.",
        key=(),
        columns=(
            _must("accelerator", "text", "slug, in `accelerators`"),
            _must("name", "text", "as it is reported"),
            _must("kind", "text", "reported, machine (its model), product, or undecided: the name alone does not tell"),
            Column("memory_bytes", "integer", "the name is this accelerator's only with this much memory", "B"),
            Column("gpu_cores", "integer", "the name is this accelerator's only with as many GPU cores"),
            _must("source", "text", "key of the document that says so, in `sources`"),
            _NOTE,
        ),
    ),
    Table(
        name="stacks",
        title="Stacks",
        meaning="Ways from silicon to a program that people name as one.",
        key=("slug",),
        columns=(
            _must("slug", "text", "names the stack in other tables"),
            _must("name", "text", "as people write it"),
            Column("vendor", "text", "slug of the maker of its accelerators"),
            Column("system", "text", "linux, windows or macos; null for any"),
            _must("summary", "text", "what it is"),
        ),
    ),
    Table(
        name="components",
        title="Components",
        meaning="Pieces of software and hardware that stand in stacks.",
        key=("slug",),
        columns=(
            _must("slug", "text", "names the component in other tables and in reports"),
            _must("name", "text", "as people write it"),
            Column("maker", "text", "who makes it"),
            _must("layer", "text", "which of the eight layers it stands on"),
            _must("role", "text", "the job it does there"),
            Column("part_of", "text", "slug of the component it comes with"),
            _must("what_it_is", "text", "one sentence"),
            _must("what_it_does", "text", "one sentence"),
            Column("see_version", "text", "how to see its version"),
            Column("docs_url", "text", "its documentation"),
            _SOURCE,
        ),
    ),
    Table(
        name="placements",
        title="Placements",
        meaning="Which component stands in which stack.",
        key=("stack", "component"),
        columns=(
            _must("stack", "text", "slug, in `stacks`"),
            _must("component", "text", "slug, in `components`"),
            _must("order", "integer", "place inside its layer"),
            Column("version", "text", "a demand (>= 525.60.13) or a device name"),
            Column("role", "text", "if it does another job here than its usual one"),
            _NOTE,
        ),
    ),
    Table(
        name="counterparts",
        title="Counterparts",
        meaning="What plays a component's role elsewhere, or that nothing does, and what differs.",
        key=(),
        columns=(
            _must("component", "text", "slug, in `components`"),
            Column("other", "text", "slug of what plays its role elsewhere; null where there is nothing"),
            Column("other_stack", "text", "slug of the stack that has nothing in its place"),
            _must("relation", "text", "same-role, partial or none"),
            _must("differs", "text", "what differs, or what to know instead"),
            _SOURCE,
        ),
    ),
    Table(
        name="releases",
        title="Releases",
        meaning="Releases of components, or lines of releases where the source speaks of one.",
        key=("component", "version", "variant"),
        columns=(
            _must("component", "text", "slug, in `components`"),
            _must("version", "text", "as its maker writes it"),
            Column("variant", "text", "build or platform, where one version has several"),
            Column("line", "text", "LTS, production, Update 1 ..."),
            Column("released", "text", "day (2026-11-20) or month (2026-11), as exact as the source"),
            Column("support_ends", "text", "day or month"),
            _SOURCE,
            _NOTE,
        ),
    ),
    Table(
        name="requirements",
        title="Requirements",
        meaning="What a release needs, ships, offers or supports.",
        key=("component", "version", "variant", "platform", "relation", "subject", "part"),
        columns=(
            _must("component", "text", "slug of the release's component, in `components`"),
            _must("version", "text", "of the release, in `releases`"),
            Column("variant", "text", "of the release"),
            Column("platform", "text", "where it holds; null: everywhere"),
            _must("relation", "text", "needs, ships, offers, supports, built-for or compiles-for"),
            _must("subject", "text", "slug of a component, or a word of its own such as compute-capability"),
            Column("part", "text", "the part of the release it is about"),
            Column("low", "text", "this version or a newer one"),
            Column("values", "text", "exactly these, separated by spaces"),
            _must("confidence", "text", "high, medium or low"),
            _SOURCE,
            _NOTE,
        ),
    ),
    Table(
        name="machines",
        title="Machines",
        meaning="Machines of public labs, as the newest report of each describes it.",
        key=("lab", "machine"),
        columns=(
            _LAB,
            _must("lab_name", "text", "as people write it"),
            _MACHINE,
            _must("machine_name", "text", "as people write it"),
            _must("taken_at", "moment", "when the machine was looked at, by its own clock"),
            _must("report", "text", "id of the report"),
            Column("agent", "text", "name and version of the program that sent it"),
            _must("facts", "json", "what the machine said of itself, by name of the fact, in SI units"),
            _must("software", "json", "list of component, version and how it was found"),
        ),
        of_machines=True,
    ),
    Table(
        name="cards",
        title="Cards",
        meaning="Accelerators in these machines, as their drivers report them.",
        key=("lab", "machine", "index"),
        columns=(
            _LAB,
            _MACHINE,
            _must("index", "integer", "number of the card in its machine"),
            _must("kind", "text", "as reported"),
            _must("vendor", "text", "as reported"),
            _must("reported_name", "text", "as the driver writes it"),
            Column("accelerator", "text", "slug of its sheet, in `accelerators`; null where the name is in none"),
            Column("memory_bytes", "integer", "as reported", "B"),
            _must("facts", "json", "what else the card said, by name of the fact, in SI units"),
        ),
        of_machines=True,
    ),
    Table(
        name="results",
        title="Results",
        meaning="The newest result of every benchmark and setting these machines ran; failed runs too.",
        key=(),
        columns=(
            _LAB,
            _MACHINE,
            _must("benchmark", "text", "key of the benchmark"),
            _must("version", "integer", "of the benchmark: results of two versions do not compare"),
            _must("device", "text", "what ran it, as PyTorch names it"),
            Column("card", "integer", "index of the card, in `cards`; null for a run on no card"),
            _must("params", "json", "the setting; results with equal ones compare"),
            _must("measured_at", "moment", "when"),
            _must("state", "text", "ok, failed or skipped"),
            Column("reason", "text", "why it failed or was skipped"),
            _must("unit", "text", "of median, q1, q3, low and high"),
            Column("median", "number", "of the samples"),
            Column("q1", "number", "first quartile of the samples"),
            Column("q3", "number", "third quartile of the samples"),
            Column("low", "number", "lower end of the 95 % interval of the median; null for too few samples"),
            Column("high", "number", "upper end of it"),
            _must("sample_count", "integer", "how many samples"),
            Column("rate", "number", "work of one run divided by the median; null where none follows"),
            Column("rate_unit", "text", "of the rate"),
            _must("report", "text", "id of the report it came with"),
            _must("conditions", "json", "clocks, power, throttling and device used, as sent"),
        ),
        of_machines=True,
    ),
)


def fingerprint(tables: tuple[Table, ...] = TABLES) -> str:
    """Names, types and units of all columns, hashed: moves with whatever a reader's program relies on."""
    shape = [
        (table.name, [(column.name, column.type, column.unit, column.may_be_null) for column in table.columns])
        for table in tables
    ]
    return hashlib.sha256(repr(shape).encode()).hexdigest()[:16]
