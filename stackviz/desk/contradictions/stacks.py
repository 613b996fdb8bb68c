"""Pairs of statements about versions: plans, diagnoses, claims, drawn stacks, freshness, search."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from urllib.parse import parse_qsl, urlsplit

from stackviz.desk.contradictions.dumps import DumpedStack, broken_findings
from stackviz.desk.contradictions.pairs import NONE, Known, Pair, PublicStatement
from stackviz.desk.freshness.feeds import feeds
from stackviz.desk.freshness.freshness_page import newest_seen
from stackviz.desk.freshness.models import FeedCheck, ProposedChange
from stackviz.pages.accelerators.claims import checked, claim_disagreements, read_claims
from stackviz.pages.plan.builds import Build, PlanOutcome
from stackviz.pages.plan.page import Plan, make_plan
from stackviz.pages.plan.planned_machine import SYSTEMS
from stackviz.pages.plan.query import CPU_ONLY, CPU_SYSTEMS, read_plan_query
from stackviz.pages.plan.support import PlanTarget, may_run
from stackviz.pages.plan.targets import find_target
from stackviz.pages.plan.ways import is_planned
from stackviz.pages.search.prepared import search_index
from stackviz.pages.search.query import Query
from stackviz.pages.search.software_answers import plan_answer
from stackviz.records.catalog.asked_for import most_requested
from stackviz.records.stacks.models import Placement
from stackviz.records.stacks.operators import operator_coverage
from stackviz.report.rules import Tables
from stackviz.report.rules.drivers import driver_floor, shipped_drivers
from stackviz.report.rules.versions import is_below, major_minor, numbers

# --- what the planner installs, and what the diagnosis finds in that very stack ---


def plans_and_diagnoses(known: Known) -> Iterator[Pair]:
    """Every family of accelerators that plans are made for, on every system it runs; and the CPU alone."""
    for target in planned_families(known):
        for system in SYSTEMS.values():
            if target.vendor in system.vendors and may_run(target, system.key):
                yield from _plan_pairs(known, {"accelerator": target.slug, "system": system.key})
    for key in CPU_SYSTEMS:
        yield from _plan_pairs(known, {"accelerator": CPU_ONLY, "system": key})


def planned_families(known: Known) -> list[PlanTarget]:
    """One accelerator of each compute capability, and of each generation of Apple's chips."""
    families: dict[tuple[str, str], PlanTarget] = {}
    for slug in known.catalogue.by_slug:
        target = find_target(known.tables, slug)
        if target is not None and is_planned(target):
            generation = target.capability if target.vendor == "nvidia" else slug.split("-")[1]
            families.setdefault((target.vendor, generation), target)
    return list(families.values())


def _plan_pairs(known: Known, address: dict[str, str]) -> Iterator[Pair]:
    query = read_plan_query(address, known.tables, known.day)
    plan = make_plan(query, known.tables, known.day)
    if plan.outcome is PlanOutcome.UNKNOWN or (plan.build is None and plan.builds):
        return
    dump = _planned_dump(plan)
    yield _diagnosed(known, plan, dump, works=plan.outcome is PlanOutcome.WORKS)
    floor = plan.build.driver_floor if plan.build else ""
    if floor and plan.query.takes_driver:
        yield _diagnosed(known, plan, replace(dump, driver=floor), works=True)
        yield _diagnosed(known, plan, replace(dump, driver=driver_before(floor)), works=False)


def _planned_dump(plan: Plan) -> DumpedStack:
    machine, build = plan.query.machine, plan.build
    chosen = plan.branches.chosen
    return DumpedStack(
        system=machine.system.key,
        torch=machine.torch + _suffix(plan, build),
        python=f"{machine.python}.0",
        cuda=build.cuda if build else "",
        cudnn=build.cudnn if build else "",
        card=machine.card.reported_name if machine.card else "",
        driver=machine.driver or (chosen.driver if chosen and build else ""),
        macos=machine.macos,
    )


def _suffix(plan: Plan, build: Build | None) -> str:
    if build is not None:
        return f"+{build.name}"
    return "" if plan.query.machine.system.platform == "macos" else "+cpu"


def driver_before(driver: str) -> str:
    """The last number one lower, or the last of the branch before: 525.60.13 -> 525.60.12, 570 -> 569.99."""
    parts = driver.split(".")
    if len(parts) == 1 or not int(parts[-1]):
        return f"{int(parts[0]) - 1}.99"
    return ".".join([*parts[:-1], f"{int(parts[-1]) - 1:0{len(parts[-1])}}"])


def _diagnosed(known: Known, plan: Plan, dump: DumpedStack, *, works: bool) -> Pair:
    broken = broken_findings(dump, known.tables, known.day)
    stack = f"torch {dump.torch}, driver {dump.driver or 'none'}, {dump.card or 'CPU'}, {dump.system}"
    planned = PublicStatement(plan.query.address, f"{stack}: {'works' if works else 'does not work'}")
    diagnosis = "; ".join(str(finding.title) for finding in broken) or "nothing is broken"
    return Pair(planned, PublicStatement("/diagnose/", diagnosis), works is not bool(broken))


# --- claims ---


def claims_and_figures(known: Known) -> Iterator[Pair]:
    """A number that a claim says against the catalogue's, by the verdict."""
    del known  # the catalogue is read by the claims' page itself
    for item in checked(read_claims()):
        if item.claim.claimed is None:
            continue
        problems = claim_disagreements([item])
        claim = f"{item.claim.text} ({item.claim.verdict.value})"
        figures = ", ".join(f"{figure.accelerator.slug} {figure.text}" for figure in item.figures)
        yield Pair(
            PublicStatement(f"/claims/#{item.claim.key}", claim),
            PublicStatement("the spec sheets", figures),
            agrees=not problems,
        )


@dataclass(frozen=True, slots=True)
class _ClaimedVersion:
    """`phrase`: of the answer, with the version in place of `{}`; `decided_by`: what the tables say."""

    claim: str
    phrase: str
    table: str
    version: str


def claims_and_tables(known: Known) -> Iterator[Pair]:
    """Every version in a claim's answer that a rule decides, against the table the rule reads."""
    answers = {claim.key: claim.answer for claim in read_claims()}
    for row in _claimed_versions(known.tables):
        wanted = row.phrase.format(row.version)
        answer = answers.get(row.claim, "no such claim")
        decided = PublicStatement(f"the table of {row.table}", wanted)
        yield Pair(PublicStatement(f"/claims/#{row.claim}", answer), decided, wanted in answer)


def _claimed_versions(tables: Tables) -> Iterator[_ClaimedVersion]:
    for claim, cuda, phrases in (
        ("cuda-12-0-driver", "12.0", ("from driver {} on Linux", "and {} on Windows")),
        ("cuda-11-8-driver", "11.8", ("run from {} (Linux)", "or {} (Windows)")),
    ):
        for phrase, platform in zip(phrases, ("linux", "windows"), strict=True):
            floor = driver_floor(tables, cuda, platform)
            yield _ClaimedVersion(claim, phrase, f"cuda-runtime {cuda}, {platform}", floor.low if floor else NONE)
    for claim, phrase, platform in (
        ("cuda-11-8-driver", "shipped with {}", "linux"),
        ("rtx-40-driver-516-94", "shipped with {} on Windows", "windows"),
        ("rtx-40-driver-516-94", "and {} on Linux", "linux"),
    ):
        shipped = shipped_drivers(tables, "11.8", platform)
        version = shipped[0].values if shipped else NONE
        yield _ClaimedVersion(claim, phrase, f"cuda-toolkit 11.8, {platform}", version)
    macs = tables.rows("pytorch", "needs", "macos", part="mps")
    for macos in dict.fromkeys(row.low for row in macs if is_below("12.3", row.low)):
        phrase = f"{macos.removesuffix('.0')} from {{}} on"
        first = next((row.version for row in macs if row.low == macos), NONE)
        yield _ClaimedVersion("mps-macos-12-3", phrase, f"pytorch needs macOS {macos}", major_minor(first))
    last = next((row.version for row in reversed(macs) if row.low == "12.3"), NONE)
    yield _ClaimedVersion("mps-macos-12-3", "up to PyTorch {}", "pytorch needs macOS 12.3", major_minor(last))
    first = macs[0].version if macs else NONE
    yield _ClaimedVersion("mps-since-2-0", "came with {} in", "pytorch with mps", major_minor(first))
    features = (row for row in tables.requirements if row.subject == "tensor-core-bf16" and row.values == "yes")
    first = min((row.version for row in features), key=numbers, default=NONE)
    yield _ClaimedVersion(
        "v100-bf16", "need compute capability {}", "compute-capability offers tensor-core-bf16", first
    )
    offers = (row for row in tables.rows("pytorch", "offers", "cuda-runtime") if "11.8" in row.values.split())
    last = max((row.version for row in offers), key=numbers, default=NONE)
    phrase = "up to torch {} there was one with CUDA 11.8"
    yield _ClaimedVersion("torch-2-2-cuda-11-6", phrase, "pytorch offers CUDA 11.8", major_minor(last))
    row = next(
        (row for row in tables.rows("compute-capability", "needs", "cuda-toolkit") if row.version == "8.9"), None
    )
    phrase = "compute capability 8.9, came with CUDA {}"
    yield _ClaimedVersion("rtx-40-driver-516-94", phrase, "compute-capability 8.9 needs", row.low if row else NONE)
    coverage = operator_coverage()[0]
    for claim, phrase, count in (
        ("mps-80-per-cent", "{} operator names have kernels", coverage.mps_names),
        ("metal-less-optimised", "{} overloads on CUDA", coverage.cuda_overloads),
        ("metal-less-optimised", "and {} on mps", coverage.mps_overloads),
        ("new-back-end-2000-operators", "the core set is enough, {} overloads", coverage.core_all),
        ("pytorch-2000-operators", "the core set that exported programs use has {} overloads", coverage.core_all),
    ):
        yield _ClaimedVersion(claim, phrase, f"operator coverage of torch {coverage.torch}", f"{count or 0:,}")


# --- versions in the drawings of stacks ---

_FLOOR = re.compile(r"≥ ([0-9.]+) for (CUDA |torch )?([0-9.]+)")
_DECIDING = {("nvidia-driver", "CUDA "), ("macos", "torch ")}


def drawings_and_tables(known: Known) -> Iterator[Pair]:
    """Each `≥ 525.60.13 for CUDA 12` of a drawn stack against the floor by which diagnoses judge."""
    placed = Placement.objects.filter(stack__is_public=True, version__contains="≥").select_related("stack", "component")
    for item in placed:
        subject = ""
        for low, named, version in _FLOOR.findall(item.version):
            subject = named or subject  # "≥ 14.0 for torch 2.9, ≥ 15.0 for 2.15"
            if (item.component.slug, subject) not in _DECIDING:
                continue
            decided = _decided_floor(known.tables, item, subject, version)
            drawn = PublicStatement(item.stack.get_absolute_url(), f"{item.component.slug} {item.version}")
            table = PublicStatement("requirements.csv", f"{subject}{version} needs {item.component.slug} {decided}")
            yield Pair(drawn, table, decided == low)


def _decided_floor(tables: Tables, item: Placement, subject: str, version: str) -> str:
    if subject == "CUDA ":
        floor = driver_floor(tables, version, item.stack.system)
        return floor.low if floor else NONE
    rows = tables.rows("pytorch", "needs", "macos", part="mps")
    return next((row.low for row in rows if major_minor(row.version) == version), NONE)


# --- the newest release ---


def freshness_and_tables(known: Known) -> Iterator[Pair]:
    """What a feed calls the newest, and the newest that freshness has seen; a change that waits explains a difference.

    And what a plan calls the newest, which may not be newer than what freshness has seen.
    """
    proposed = set(ProposedChange.objects.filter(state=ProposedChange.State.WAITING).values_list("feed", flat=True))
    checks = {check.feed: check.newest for check in FeedCheck.objects.exclude(newest="")}
    for feed in feeds():
        newest = checks.get(feed.key, "")
        seen = newest_seen(known.tables, feed.component, known.day)
        if newest and seen is not None:
            listed = newest if not feed.depth else ".".join(newest.split(".")[: feed.depth])
            yield Pair(
                PublicStatement(f"/freshness/, feed {feed.key}", f"newest {newest}"),
                PublicStatement(f"/freshness/, releases/{feed.component}", f"newest seen {seen.version}"),
                agrees=not is_below(seen.version, listed) or feed.key in proposed,
            )
    for address in ({"accelerator": slug} for slug in ("nvidia-geforce-rtx-5090", "apple-m4-max-40")):
        plan = make_plan(read_plan_query(address, known.tables, known.day), known.tables, known.day)
        named = [(row.life.component, row.life.newest or row.life.version) for row in plan.life.rows]
        if plan.query.torches:
            named.append(("pytorch", plan.query.torches[0].value))
        for component, version in named:
            seen = newest_seen(known.tables, component, known.day)
            yield Pair(
                PublicStatement(plan.query.address, f"the newest {component} is {version}"),
                PublicStatement(f"/freshness/, releases/{component}", f"newest seen {seen.version if seen else NONE}"),
                agrees=seen is not None and not is_below(seen.version, version),
            )


# --- search ---

_SYSTEM_WORDS = {"linux": "linux-x86_64", "windows": "windows-x86_64", "wsl2": "wsl2", "macos": "macos-arm64"}


def search_and_plans(known: Known) -> Iterator[Pair]:
    """The plan that search answers with, for the accelerators asked for most, against what the planner plans there."""
    index = search_index()
    for slug in most_requested():
        accelerator = known.catalogue.by_slug.get(slug)
        if accelerator is None:
            continue
        for name, system in _SYSTEM_WORDS.items():
            question = f"pytorch {accelerator.name} {name}"
            entries = plan_answer(Query(index, question))
            if not entries:
                continue
            address = urlsplit(entries[0].url)
            query = read_plan_query(dict(parse_qsl(address.query)), known.tables, known.day)
            systems = {option.value for option in query.systems}
            wanted = system if system in systems else query.machine.system.key
            plan = f"{query.title} on {query.machine.system.key}"
            yield Pair(
                PublicStatement(f"/search/?q={question}", f"{entries[0].title}: {entries[0].url}"),
                PublicStatement(query.address, plan),
                agrees=query.title in entries[0].title
                and (query.accelerator, query.machine.system.key) == (slug, wanted),
            )
