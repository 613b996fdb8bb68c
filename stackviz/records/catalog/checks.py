"""The checks of the catalogue, by name: each looks at what is public and says what is wrong with which value.

A value that its formula does not support is no mistake where the data says why: a line of `data/exceptions.csv` for its
cell, a note that starts with `NOT_BY_FORMULA`, or, for an alternative that lost to another source, any note.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from urllib.parse import urlsplit

from stackviz.records.catalog.by_formula import disagreements, figure_of
from stackviz.records.catalog.conditions import ConditionError, canonical, parse, write
from stackviz.records.catalog.cross_checks import bins, chips, clocks, dates, orders, pins, powers, ratios
from stackviz.records.catalog.fields import FIELDS, Field, amount_of
from stackviz.records.catalog.formula import expectations
from stackviz.records.catalog.models import Alias, Source, SpecValue
from stackviz.records.catalog.never_named import forbidden_address_in
from stackviz.records.catalog.reviewed import CheckFinding, Problem, Reviewed, cell_of, excused_or, label_of, problem_of
from stackviz.records.curated.rows import is_source_page
from stackviz.records.prices.price import Price, preference_problems, stored_price_problem

# Hosts of other names, with a path where only a part of the host is the vendor's.
OTHER_HOSTS: Mapping[str, tuple[str, ...]] = {
    "amd": ("gpuopen.com", "llvm.org/docs/AMDGPUUsage"),  # AMD writes the documentation of its back end in LLVM
    "aws": ("aws.amazon.com", "awsdocs-neuron.readthedocs-hosted.com"),
    "google": ("jax.dev", "coral.ai", "blog.google"),
    "huawei": ("hisilicon.com", "hiascend.com"),
    "moore-threads": ("mthreads.com",),
    # The servers of its press department's files and of its data sheets.
    "nvidia": ("github.com/NVIDIA/", "dam-cdn.nvd.orangelogic.com", "nvdam.widen.net"),
    "qualcomm": ("quic.github.io",),
    "rebellions": ("rbln.ai",),
    "tenstorrent": ("github.com/tenstorrent/",),
}


def is_host_of(vendor: str, url: str) -> bool:
    """Whether the page at this address is published by the vendor of this slug."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    host = parts.hostname or ""
    if host.split(".")[-2:-1] == [vendor]:
        return True
    return any(_is_below(host + parts.path, known) for known in OTHER_HOSTS.get(vendor, ()))


def _is_below(address: str, known: str) -> bool:
    """Whether a host and path are `known`, a host below it, or a path below it."""
    known_host, _slash, known_path = known.partition("/")
    host, _slash, path = address.partition("/")
    return (host == known_host or host.endswith(f".{known_host}")) and path.startswith(known_path)


# Two printed rates this near are the same rate, rounded differently.
SAME = 0.01


def _of_each(reviewed: Reviewed, wrong: Callable[[SpecValue], str]) -> Iterator[CheckFinding]:
    """One finding per value; `wrong` says what was expected, or "" where all is well."""
    for value in reviewed.values:
        expected = wrong(value)
        yield problem_of(value, expected) if expected else CheckFinding()


# --- each value by itself ---


def _sources(reviewed: Reviewed) -> Iterator[CheckFinding]:
    def wrong(value: SpecValue) -> str:
        if value.source is None:
            return "a source"
        return (
            ""
            if is_source_page(value.source.url)
            else f"the web address of a page for its source, not {value.source.url!r}"
        )

    return _of_each(reviewed, wrong)


def _vendor_hosts(reviewed: Reviewed) -> Iterator[CheckFinding]:
    def wrong(value: SpecValue) -> str:
        source = value.source
        if source is None or source.kind != Source.Kind.MAKER:
            return ""
        vendor = value.accelerator.vendor
        return "" if is_host_of(vendor.slug, source.url) else f"a page of {vendor.name}, not {source.url}"

    return _of_each(reviewed, wrong)


def _never_named(reviewed: Reviewed) -> Iterator[CheckFinding]:
    def wrong(value: SpecValue) -> str:
        source = value.source
        texts = (value.note, value.said_by, *((source.title, source.url) if source else ()))
        forbidden = forbidden_address_in("\n".join(texts))
        return f"{forbidden.instead} instead of {forbidden.address}: {forbidden.reason}" if forbidden else ""

    return _of_each(reviewed, wrong)


def _fields(reviewed: Reviewed) -> Iterator[CheckFinding]:
    def wrong(value: SpecValue) -> str:
        registered, product = value.registered_field, value.accelerator
        if registered is None:
            return "a field of the registry"
        if registered.applies_to(product.vendor.slug, product.kind):
            return ""
        return f"no such value: the field does not apply to {product.kind} of {product.vendor.name}"

    return _of_each(reviewed, wrong)


def _units(reviewed: Reviewed) -> Iterator[CheckFinding]:
    def wrong(value: SpecValue) -> str:
        registered = value.registered_field
        if registered is None:
            return ""
        try:
            amount = amount_of(replace(registered, plausible=None), value.value, value.unit)
        except ValueError as error:
            return str(error)
        if amount == value.amount or (amount and value.amount and abs(amount / value.amount - 1) < 1e-9):
            return ""
        return f"an amount of {amount}, not {value.amount}"

    return _of_each(reviewed, wrong)


# How a note tells what stands in the source, where it is not what stands here.
_PRINTED = re.compile(r"(?<!another )\bsource prints (\d+(?:\.\d+)?)(?=$|[;,])")


def _printed(reviewed: Reviewed) -> Iterator[CheckFinding]:
    def wrong(value: SpecValue) -> str:
        printed = _PRINTED.search(value.note)
        if printed is None or value.amount is None or float(printed[1]) == float(value.value):
            return ""
        return f"{printed[1]} {value.unit}, which its note says the source prints"

    return _of_each(reviewed, wrong)


def _ranges(reviewed: Reviewed) -> Iterator[CheckFinding]:
    def wrong(value: SpecValue) -> str:
        registered = value.registered_field
        if registered is None or value.amount is None or registered.plausible is None:
            return ""
        least, most = registered.plausible
        figure = figure_of(registered, value)
        return "" if least <= figure <= most else f"{least:g} – {most:g} {registered.unit}"

    return _of_each(reviewed, wrong)


def _conditions(reviewed: Reviewed) -> Iterator[CheckFinding]:
    def wrong(value: SpecValue) -> str:
        try:
            proper = canonical(value.condition)
            parts = parse(value.condition)
        except ConditionError as error:
            return error.problem
        if proper != value.condition:
            return f"written {proper!r}"
        registered = value.registered_field
        if registered and registered.group == "rates" and _names_sparsity(registered) and "sparsity" not in parts:
            return "a rate that says whether it is dense or sparse"
        return ""

    return _of_each(reviewed, wrong)


def _names_sparsity(registered: Field) -> bool:
    return all("sparsity" in condition for condition in registered.usual)


# --- values against each other ---


def _preferred(reviewed: Reviewed) -> Iterator[CheckFinding]:
    for (slug, name, condition), values in reviewed.cells.items():
        chosen = [value for value in values if value.is_preferred]
        figures = "; ".join(label_of(value) for value in chosen or values)
        expected = f"one preferred value, not {len(chosen)}"
        yield CheckFinding() if len(chosen) == 1 else CheckFinding(Problem(slug, name, condition, figures, expected))


def _comparable(reviewed: Reviewed) -> Iterator[SpecValue]:
    """The figures that can be compared: of a known field, under a valid condition."""
    for value in reviewed.values:
        if value.registered_field and value.amount is not None and _is_readable(value.condition):
            yield value


def _is_readable(condition: str) -> bool:
    try:
        parse(condition)
    except ConditionError:
        return False
    return True


def _formulas(reviewed: Reviewed) -> Iterator[CheckFinding]:
    for value in _comparable(reviewed):
        if not _is_judged(reviewed, value):
            continue
        differing = disagreements(value, reviewed.published[value.accelerator_id])
        yield (
            excused_or(reviewed, value, "; ".join(str(expectation) for expectation in differing))
            if differing
            else CheckFinding()
        )


def _is_judged(reviewed: Reviewed, value: SpecValue) -> bool:
    """Whether a formula finds what it needs to look at the value."""
    published, formula = reviewed.published[value.accelerator_id], FIELDS[value.field].formula
    return any(True for _expectation in expectations(published, formula, value.field, value.condition))


def _sparse_as_dense(reviewed: Reviewed) -> Iterator[CheckFinding]:
    for value in _comparable(reviewed):
        if "sparsity=dense" in value.condition and value.amount:
            looks_sparse = _looks_sparse(reviewed, value)
            yield excused_or(reviewed, value, looks_sparse) if looks_sparse else CheckFinding()


# Rates that a design runs alike: of these neither is twice the other, unless a formula knows the design.
_ALIKE = {"fp16_tensor_tflops": "bf16_tensor_tflops", "bf16_tensor_tflops": "fp16_tensor_tflops"}


def _looks_sparse(reviewed: Reviewed, value: SpecValue) -> str:
    """Why a dense rate seems to be one with sparsity, or ""."""
    slug, name, condition = cell_of(value)
    sparse = write({**parse(condition), "sparsity": "sparse"})
    for other in reviewed.cells.get((slug, name, sparse), ()):
        if _is_factor(value, other, 1):
            return f"less than the sparse rate, {label_of(other)}"
    if _is_supported(reviewed, value):
        return ""
    for other in reviewed.cells[slug, name, condition]:
        if _is_factor(value, other, 2):
            return f"the dense rate of another source, {label_of(other)}"
    for other in reviewed.cells.get((slug, _ALIKE.get(name, ""), condition), ()):
        if _is_factor(value, other, 2):
            return f"the rate of {_ALIKE[name]}, {label_of(other)}"
    return ""


def _is_factor(value: SpecValue, other: SpecValue, factor: float) -> bool:
    return bool(value.amount and other.amount) and abs((value.amount or 0) / (other.amount or 1) / factor - 1) < SAME


def _is_supported(reviewed: Reviewed, value: SpecValue) -> bool:
    """Whether a formula looked at the value and agrees."""
    return _is_judged(reviewed, value) and not disagreements(value, reviewed.published[value.accelerator_id])


# --- names ---


def _names(reviewed: Reviewed) -> Iterator[CheckFinding]:
    """A name leads to one sheet, or every sheet that has it says which memory size or core count is its own."""
    by_name: dict[str, list[Alias]] = defaultdict(list)
    for alias in reviewed.aliases:
        if alias.kind != Alias.Kind.UNDECIDED:
            by_name[alias.normalized].append(alias)
    for alike in by_name.values():
        for position, alias in enumerate(alike):
            rivals = [other for other in alike[:position] if not _are_distinguishable(alias, other)]
            yield _double(alias, rivals) if rivals else CheckFinding()


def _are_distinguishable(alias: Alias, other: Alias) -> bool:
    if alias.accelerator_id == other.accelerator_id:
        return True
    pairs = ((alias.gpu_cores, other.gpu_cores), (alias.memory_bytes, other.memory_bytes))
    return any(first and second and first != second for first, second in pairs)


def _double(alias: Alias, rivals: Collection[Alias]) -> CheckFinding:
    slugs = ", ".join(sorted({other.accelerator.slug for other in rivals}))
    expected = f"a memory size or GPU core count that tells it from {slugs}, or kind undecided"
    return CheckFinding(Problem(alias.accelerator.slug, "", "", alias.name, expected))


# --- prices ---


def _prices(reviewed: Reviewed) -> Iterator[CheckFinding]:
    for price in reviewed.prices:
        wrong = stored_price_problem(price)
        yield _price_problem([price], wrong) if wrong else CheckFinding()


def _preferred_prices(reviewed: Reviewed) -> Iterator[CheckFinding]:
    for prices, wrong in preference_problems(reviewed.prices):
        yield _price_problem(prices, wrong) if wrong else CheckFinding()


def _price_problem(prices: Sequence[Price], expected: str) -> CheckFinding:
    first, labels = prices[0], "; ".join(price.label for price in prices)
    where = ", ".join(filter(None, [first.seller, first.offer, first.day_text]))
    return CheckFinding(Problem(first.accelerator.slug, f"price ({first.kind})", where, labels, expected))


CHECKS: dict[str, tuple[str, Callable[[Reviewed], Iterator[CheckFinding]]]] = {
    "source": ("every public value has a source: a page with a web address", _sources),
    "vendor": ("a source of the vendor lies on one of the vendor's hosts", _vendor_hosts),
    "never-named": ("no source or note names an address of data/never_named.csv", _never_named),
    "field": ("every value is of a registered field that its product can have", _fields),
    "unit": ("every figure is in a unit of its field, and its amount is that of the printed value", _units),
    "printed": ("every figure is what its source prints", _printed),
    "range": ("every figure lies in the plausible range of its field", _ranges),
    "condition": ("every condition is canonical, and rates say whether they are dense", _conditions),
    "preferred": ("every cell has exactly one preferred value", _preferred),
    "formula": ("figures agree with their formula, or say why not", _formulas),
    "sparse": ("no sparse figure stands in a dense field", _sparse_as_dense),
    "pins": ("bus width and bandwidth give a data rate that the kind of memory has", pins),
    "chips": ("memory size and bus width give memory chips of a size that is made", chips),
    "clock": ("lanes and the fp32 rate give a clock near those of the sheet", clocks),
    "ratio": ("rates of two data types have the ratio that other sheets of the architecture have", ratios),
    "order": ("of one line no product with more fp32 lanes is slower", orders),
    "date": ("no product is older than its architecture", dates),
    "bin": ("no bin of an Apple chip is older than the first Mac that has it", bins),
    "power": ("board power is no more than its module, its form factor and its peak allow", powers),
    "name": ("no name leads to two sheets", _names),
    "price": ("every price has a currency, a plausible amount, a day that has come and a page as its source", _prices),
    "price-of-day": ("every seller and day has exactly one preferred price", _preferred_prices),
}
