"""The framework, system and installer that an address asks for, of the ways there are. No queries."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext as _

from stackviz.pages.plan.builds import PlanOutcome
from stackviz.pages.plan.planned_machine import INTEL_MAC, SYSTEMS
from stackviz.pages.plan.way import InstallWay
from stackviz.pages.plan.ways import FRAMEWORKS, INSTALLERS
from stackviz.web.http.address import LONGEST_SHOWN, AddressReader


@dataclass(frozen=True, slots=True)
class Option:
    """One choice of a list."""

    value: str
    title: str
    is_chosen: bool


def options_of(pairs: Iterable[tuple[str, str]], chosen: str) -> tuple[Option, ...]:
    """The choices of (value, title), with one of them chosen."""
    return tuple(Option(value, title, value == chosen) for value, title in pairs)


_FIRST_SYSTEM = next(iter(SYSTEMS))
_BEST_FIRST = (PlanOutcome.WORKS, PlanOutcome.UNKNOWN, PlanOutcome.FAILS)


@dataclass(frozen=True, slots=True)
class FrameworkLine:
    """A framework on one accelerator: where it runs, and what is known elsewhere. `systems`: keys of SYSTEMS."""

    framework: str
    title: str
    outcome: PlanOutcome
    systems: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WayChoice:
    """What is chosen, with the lists it was chosen from. `way`: the one for all of it."""

    framework: str
    system: str
    installer: str
    way: InstallWay
    lines: tuple[FrameworkLine, ...]
    systems: tuple[str, ...]
    frameworks: tuple[Option, ...]
    installers: tuple[Option, ...]

    @property
    def is_planned(self) -> bool:
        return self.way.is_planned

    @property
    def title(self) -> str:
        """The framework's name."""
        return str(FRAMEWORKS[self.framework])

    @property
    def others(self) -> tuple[FrameworkLine, ...]:
        """The other frameworks that run on the accelerator."""
        return tuple(line for line in self.lines if line.outcome == "works" and line.framework != self.framework)


def choose_way(reader: AddressReader, ways: Sequence[InstallWay], titles: Mapping[str, str]) -> WayChoice:
    """What the address asks for; what is left open is what works best. `titles`: of systems."""
    lines = tuple(_line(framework, ways) for framework in dict.fromkeys(way.framework for way in ways))
    best = min(lines, key=lambda line: _BEST_FIRST.index(line.outcome))
    known = [line.framework for line in lines]
    framework = _choice(reader, "framework", known, _("framework"), best.framework)
    of_framework = [way for way in ways if way.framework == framework]
    systems = _systems(of_framework) or _systems(ways) or (_FIRST_SYSTEM,)
    system = _system(reader, framework, systems, _preferred(of_framework, systems), titles)
    fitting = [way for way in of_framework if way.system in ("", system)]
    installers = [way.installer for way in fitting if way.installer]
    installer = _choice(reader, "installer", installers, _("installer"), next(iter(installers), ""))
    return WayChoice(
        framework=framework,
        system=system,
        installer=installer,
        way=next(way for way in fitting if way.installer == installer),
        lines=lines,
        systems=systems,
        frameworks=options_of(((line.framework, line.title) for line in lines), framework),
        installers=options_of(((key, str(INSTALLERS[key])) for key in installers), installer),
    )


def _line(framework: str, ways: Sequence[InstallWay]) -> FrameworkLine:
    mine = [way for way in ways if way.framework == framework]
    outcome = min((way.outcome for way in mine), key=_BEST_FIRST.index)
    best = [way for way in mine if way.outcome == outcome]
    return FrameworkLine(framework, str(FRAMEWORKS[framework]), outcome, _systems(best))


def _systems(ways: Sequence[InstallWay]) -> tuple[str, ...]:
    """In the order of SYSTEMS."""
    named = {way.system for way in ways}
    return tuple(key for key in SYSTEMS if key in named)


def _preferred(ways: Sequence[InstallWay], systems: Sequence[str]) -> str:
    """The system on which most is known to work."""

    def rank(system: str) -> int:
        return min((_BEST_FIRST.index(way.outcome) for way in ways if way.system == system), default=len(_BEST_FIRST))

    return min(systems, key=rank)


def _system(
    reader: AddressReader, framework: str, systems: Sequence[str], default: str, titles: Mapping[str, str]
) -> str:
    given = reader.text("system")
    if given == INTEL_MAC:
        problem = _("A Mac with an Intel processor is planned with accelerator=cpu")
        reader.note("system", problem, _("the plan is for %(other)s") % {"other": titles[default]})
        return default
    if given in SYSTEMS and given not in systems:
        words = {"framework": FRAMEWORKS[framework], "system": titles[given]}
        problem = _("No source on record says how to install %(framework)s for it on %(system)s") % words
        reader.note("system", problem, _("the plan is for %(other)s") % {"other": titles[default]})
        return default
    return _choice(reader, "system", systems, _("system"), default)


def _choice(reader: AddressReader, name: str, known: Collection[str], what: str | Promise, default: str) -> str:
    """As AddressReader.choice, with the choices in the note."""
    value = reader.text(name)
    if not value or value in known:
        return value or default
    problem = _("Unknown %(what)s “%(value)s”; choose %(choices)s") % {
        "what": what,
        "value": value[:LONGEST_SHOWN],
        "choices": ", ".join(known) or _("none"),
    }
    reader.note(name, problem)
    return default
