"""What a page says about one error message: causes and what tells them apart, commands for both shells, versions."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from urllib.parse import urlencode

from stackviz.base.advice import Part, blocks_of, parts_of
from stackviz.pages.diagnose.cause_versions import VersionTable, version_tables
from stackviz.report.messages import SYMPTOMS, Symptom
from stackviz.report.rules import Tables
from stackviz.report.rules.registry import RULES
from stackviz.web.finding_text import finding_words
from stackviz.web.message_pages import MessagePage, message_page
from stackviz.web.reverse import address_by_name
from stackviz.web.shells import powershell_of

__all__ = ["CausePage", "Command", "cause_page", "diagnose_url", "message_questions", "shown_command"]

MOST_RELATED = 8
_PLANNED_RULES = frozenset({"kernels-missing", "cpu-wheel", "driver-too-old"})


@dataclass(frozen=True, slots=True)
class Command:
    """As it is typed in bash, and in PowerShell where that differs ("" elsewhere)."""

    bash: str
    powershell: str


@dataclass(frozen=True, slots=True)
class RemedyBlock:
    """A paragraph of parts, or a command in a box: the other is empty."""

    parts: tuple[Part, ...] = ()
    command: Command | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownCause:
    """One cause, from the likeliest on. `sign` is empty where nothing tells it from the others."""

    text: str
    sign: tuple[Part, ...]
    remedy: tuple[RemedyBlock, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CausePage:
    """`checks`: what the diagnosis compares to find the cause by itself, as ends of "whether ...".

    `related`: other messages that a reader may have meant. `diagnose_url`: the form with the message in it.
    """

    symptom: Symptom
    component: str
    component_url: str
    causes: tuple[ShownCause, ...]
    ask: Command
    diagnose_url: str
    checks: tuple[str, ...]
    versions: tuple[VersionTable, ...]
    related: tuple[MessagePage, ...]

    @property
    def leads_to_plan(self) -> bool:
        """Whether another build or driver may be the remedy, which `/plan/` chooses for a card."""
        return not _PLANNED_RULES.isdisjoint(self.symptom.rules)


def cause_page(symptom: Symptom, tables: Tables, names: Mapping[str, str]) -> CausePage:
    """`names`: of components, by their slugs. Pure."""
    is_described = symptom.component in names
    return CausePage(
        symptom=symptom,
        component=names.get(symptom.component, symptom.component),
        component_url=address_by_name("stacks:component", symptom.component) if is_described else "",
        causes=tuple(
            ShownCause(
                text=cause.text,
                sign=tuple(parts_of(finding_words(cause.sign))),
                remedy=tuple(_remedy(finding_words(cause.remedy))),
            )
            for cause in symptom.causes
        ),
        ask=shown_command(symptom.ask),
        diagnose_url=diagnose_url(symptom),
        checks=tuple(_checks()[rule] for rule in symptom.rules),
        versions=version_tables(symptom.key, tables),
        related=tuple(_related(symptom)),
    )


def _remedy(text: str) -> Iterable[RemedyBlock]:
    for block in blocks_of(text):
        if block.typed:
            yield RemedyBlock(command=shown_command(block.typed))
        elif block.parts:
            yield RemedyBlock(block.parts)


def shown_command(typed: str) -> Command:
    """A command of bash with its form for PowerShell."""
    return Command(typed, powershell_of(typed))


def _related(symptom: Symptom) -> list[MessagePage]:
    """Messages that a rule of this one explains too, then those of the same component."""
    others = [other for other in SYMPTOMS if other is not symptom]
    by_rule = [other for other in others if set(other.rules) & set(symptom.rules)]
    of_component = [other for other in others if other.component == symptom.component]
    keys = dict.fromkeys(other.key for other in (*by_rule, *of_component))
    return [message_page(key) for key in keys][:MOST_RELATED]


def diagnose_url(symptom: Symptom) -> str:
    """The form with the message in its box: what the command prints is pasted below it."""
    query = urlencode({"text": f"{symptom.message}\n\n"})
    return f"{address_by_name('diagnose:page')}?{query}#paste"


@lru_cache(maxsize=1)
def _checks() -> Mapping[str, str]:
    return MappingProxyType({rule.id: rule.asks for rule in RULES})


# ---- for search engines ---------------------------------------------------------------------------------------------


def message_questions(symptom: Symptom) -> list[tuple[str, str]]:
    """The page as questions with answers, in English as its texts are."""
    reasons = [" ".join(filter(None, (cause.text, cause.sign))) for cause in symptom.causes]
    remedies = [f"{cause.text} {cause.remedy}" for cause in symptom.causes if cause.remedy]
    questions = [
        (f"What does “{symptom.message}” mean?", symptom.meaning),
        ("What causes it?", " ".join(f"({number}) {reason}" for number, reason in enumerate(reasons, 1))),
        ("Which command tells the cause?", f"Run: {symptom.ask}"),
    ]
    if remedies:
        mended = " ".join(f"({number}) {remedy}" for number, remedy in enumerate(remedies, 1))
        questions.insert(2, ("How is it mended?", mended))
    return questions
