"""What is asked first of a release: what it needs, what it is for, until when it is supported, what comes next.

Sentences for its page and for the search, from the same functions as plans and the diagnosis. No queries but those for
the editions.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

from django.utils.translation import gettext as _

from stackviz.records.stacks.queries import names_of_components
from stackviz.records.stacks.release_lines import DRIVER, ReleaseLine, lines_of_product, siblings, uses_of
from stackviz.records.stacks.torch_releases import pythons_of
from stackviz.report.rules import Tables
from stackviz.report.rules.drivers import cuda_without_card, driver_floor, knows_card, last_branch, serves
from stackviz.report.rules.lifecycle import LifeState, standing
from stackviz.report.rules.torch_cudas import default_cuda, published_cudas
from stackviz.report.rules.versions import major_minor, numbers, same_line

_LINUX, _MAC = "linux-x86_64", "macos-arm64"
_PLATFORMS = {"linux": "Linux", "windows": "Windows"}
_DESIGNS = frozenset({"compute-capability", "metal-family", "mig"})  # hardware: nobody ends its support
MOST_NEEDS = 5
MOST_VARIANTS = 3  # of what is needed of one thing, by build or system


def release_answer(tables: Tables, line: ReleaseLine, today: str) -> str:
    """The answer in a few sentences. `today`: as 2026-11-20."""
    sentences = [*_ABOUT.get(line.product, _needs)(tables, line)]
    if line.product not in _DESIGNS:
        sentences.append(_support(line, today) if sentences else _named_support(line, today))
        sentences += [*_torch_uses(tables, line), *_next(tables, line)]
    return " ".join(sentences) or f"{line.name}: {line.releases[-1].line or line.releases[-1].note}"


def _cuda(tables: Tables, line: ReleaseLine) -> Iterator[str]:
    floors = {system: driver_floor(tables, line.version, system) for system in _PLATFORMS}
    drivers = [
        _("%(driver)s or newer on %(system)s") % {"driver": row.low, "system": _PLATFORMS[system]}
        for system, row in floors.items()
        if row
    ]
    if drivers:
        yield _("%(name)s needs the NVIDIA driver %(drivers)s.") % {"name": line.name, "drivers": ", ".join(drivers)}
    if "." in line.version:
        listed = _capabilities(tables)
        cards = [version for version in listed if cuda_without_card(tables, version, line.version) is None]
        if cards:
            yield _("It has code for cards of compute capability %(range)s.") % {"range": _span(cards, listed)}
    torches = lines_of_product(tables, "torch")
    if published := [other.version for other in torches if _is_published_for(tables, other, line)]:
        among = [other.version for other in torches]
        yield _("PyTorch has builds for it: %(range)s.") % {"range": _span(published, among)}


def _capabilities(tables: Tables) -> list[str]:
    """The compute capabilities of the cards on record. A Jetson has its own driver and CUDA."""
    cards = (card for card in tables.cards if not card.accelerator.startswith("nvidia-jetson-"))
    known = {card.compute_capability for card in cards if card.vendor == "nvidia" and card.compute_capability}
    return sorted(known, key=numbers)


def _is_published_for(tables: Tables, torch: ReleaseLine, cuda: ReleaseLine) -> bool:
    published = (version for row in torch.releases for version in published_cudas(tables, row.version))
    return any(same_line(version, cuda.version) for version in published)


def _torch(tables: Tables, line: ReleaseLine) -> Iterator[str]:
    release = line.newest[0].version
    pythons, cudas = pythons_of(tables, release, _LINUX), published_cudas(tables, release)
    if pythons:
        among = [python.version for python in lines_of_product(tables, "python")]
        yield _("%(name)s needs Python %(range)s.") % {"name": line.name, "range": _span(pythons, among)}
    if cudas:
        default = default_cuda(tables, release, _LINUX)
        floor = driver_floor(tables, default or cudas[0], "linux")
        yield _("It has builds for CUDA %(versions)s.") % {"versions": ", ".join(reversed(cudas))}
        if default and floor:
            words = {"cuda": major_minor(default), "driver": floor.low}
            yield _("pip on Linux installs that of CUDA %(cuda)s, for the driver %(driver)s or newer.") % words
    rows = [row for row in tables.rows("pytorch", "needs", "macos", platform=_MAC) if row.version == release]
    if rows:
        low = max((row.low for row in rows), key=numbers)
        yield _("On a Mac its GPU needs macOS %(version)s or newer.") % {"version": low}


def _driver(tables: Tables, line: ReleaseLine) -> Iterator[str]:
    families = [row.version for row in reversed(tables.releases_of("cuda-runtime")) if "." not in row.version]
    for cuda in families:
        floor = driver_floor(tables, cuda, "linux")
        is_served = serves(tables, line.version, cuda, "linux")
        words = {"name": line.name, "cuda": cuda, "driver": floor.low if floor else ""}
        if is_served:
            yield _("%(name)s runs programs of CUDA %(cuda)s and older.") % words
        elif is_served is None and floor:
            yield _("%(name)s runs programs of CUDA %(cuda)s from %(driver)s on.") % words
        if is_served is not False:
            break
    listed = _capabilities(tables)
    if cards := [version for version in listed if knows_card(tables, line.version, version, "linux")]:
        yield _("It drives cards of compute capability %(range)s.") % {"range": _span(cards, listed)}
    if ending := [version for version in listed if last_branch(tables, version) == line.version]:
        yield _("It is the last branch for %(range)s.") % {"range": _span(ending, listed)}


def _capability(tables: Tables, line: ReleaseLine) -> Iterator[str]:
    yield from _needs(tables, line)
    if branch := last_branch(tables, line.version):
        yield _("Its last driver branch is %(branch)s.") % {"branch": branch}
    ends = (
        row for row in tables.rows("compute-capability", "ends-with", "cuda-toolkit") if row.version == line.version
    )
    if end := next(ends, None):
        yield _("The last CUDA with code for it is %(cuda)s.") % {"cuda": end.values}


def _needs(tables: Tables, line: ReleaseLine) -> Iterator[str]:
    """What the newest release of any other product needs and ships, as its rows say."""
    if needs := _listed(tables, line, "needs"):
        yield _("%(name)s needs %(needs)s.") % {"name": line.name, "needs": needs}
    if ships := _listed(tables, line, "ships"):
        yield _("%(name)s ships %(ships)s.") % {"name": line.name, "ships": ships}


def _listed(tables: Tables, line: ReleaseLine, relation: str) -> str:
    """`Python 3.11, 3.12; PyTorch 2.9.0`; what differs from build to build in many ways is left to the table."""
    newest = {(row.component, row.version) for row in line.newest}
    names, subjects = names_of_components(), defaultdict[str, dict[str, list[str]]](lambda: defaultdict(list))
    for row in sorted(tables.requirements, key=lambda row: row.key):
        is_of_one_build = row.relation == "ships" and row.variant
        if (row.component, row.version) not in newest or row.relation != relation or is_of_one_build:
            continue
        if row.confidence != "low":
            much = ", ".join(row.values.split()) or f"≥ {row.low}"
            subjects[row.subject][much].append(row.platform)
    listed = [
        f"{names.get(subject, subject)} {_by_platform(much)}"
        for subject, much in subjects.items()
        if len(much) <= MOST_VARIANTS
    ]
    return "; ".join(listed[:MOST_NEEDS])


def _torch_uses(tables: Tables, line: ReleaseLine) -> Iterator[str]:
    """Which PyTorch goes with a release of another product. That of CUDA is said before, from its builds."""
    if line.product == "cuda":
        return
    among = [other.version for other in lines_of_product(tables, "torch")]
    for use in uses_of(tables, line):
        words = {"range": _span([other.version for other in use.lines], among)} if use.lines else {}
        if use.component != "pytorch" or not words:
            continue
        if use.is_least:
            yield _("It is the oldest that PyTorch %(range)s takes.") % words
        elif use.relation == "ships":
            yield _("It comes with PyTorch %(range)s.") % words
        else:
            yield _("PyTorch has builds for it: %(range)s.") % words


def _by_platform(much: Mapping[str, Sequence[str]]) -> str:
    """`≥ 450.80.02 (linux), ≥ 452.39 (windows)`; without platforms where all agree."""
    if len(much) == 1:
        return next(iter(much))
    texts = (
        (text, ", ".join(sorted({platform for platform in platforms if platform}))) for text, platforms in much.items()
    )
    return ", ".join(f"{text} ({platforms})" if platforms else text for text, platforms in texts)


_ABOUT: Mapping[str, Callable[[Tables, ReleaseLine], Iterator[str]]] = {
    "cuda": _cuda,
    "torch": _torch,
    DRIVER: _driver,
    "compute-capability": _capability,
}


def _span(versions: Sequence[str], among: Sequence[str]) -> str:
    """`3.11 to 3.15` where they are neighbours among all, else each of them."""
    chosen = sorted(versions, key=numbers)
    at = among.index(chosen[0]) if chosen[0] in among else 0
    if len(chosen) < 3 or list(among[at : at + len(chosen)]) != chosen:
        return ", ".join(chosen)
    return _("%(first)s to %(last)s") % {"first": chosen[0], "last": chosen[-1]}


def line_state(line: ReleaseLine, today: str) -> tuple[LifeState, str]:
    """The support state of its newest release, and the day it ends, "" if none is published; of several the latest."""
    release = max(line.newest, key=lambda row: row.last_day)
    return standing(release, today), release.support_ends


def _support(line: ReleaseLine, today: str) -> str:
    state, end = line_state(line, today)
    if state is LifeState.ENDED:
        return _("Its support ended: %(day)s.") % {"day": end}
    if state is LifeState.ENDING:
        return _("Its support ends soon: %(day)s.") % {"day": end}
    return _("It is supported until %(day)s.") % {"day": end} if end else _("No end of support is published.")


def _named_support(line: ReleaseLine, today: str) -> str:
    """The same where nothing was said before it."""
    state, end = line_state(line, today)
    words = {"name": line.name, "day": end}
    if state is LifeState.ENDED:
        return _("Support of %(name)s ended: %(day)s.") % words
    if state is LifeState.ENDING:
        return _("Support of %(name)s ends soon: %(day)s.") % words
    return (
        _("%(name)s is supported until %(day)s.") if end else _("No end of support is published for %(name)s.")
    ) % words


def _next(tables: Tables, line: ReleaseLine) -> Iterator[str]:
    """`Next: CUDA 12.9; newest: CUDA 13.4.`, or that nothing newer is on record; nothing for names without numbers."""
    if not numbers(line.version):
        return
    later = [other for other in siblings(tables, line) if numbers(other.version) > numbers(line.version)]
    if not later:
        yield _("Nothing newer is on record.")
    elif len(later) == 1:
        yield _("Next: %(name)s.") % {"name": later[0].name}
    else:
        yield _("Next: %(name)s; newest: %(newest)s.") % {"name": later[0].name, "newest": later[-1].name}
