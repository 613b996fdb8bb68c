"""The subjects of a comparison, loaded from names in the address to rows; what machines report; heads of columns."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from stackviz.base.units import format_counts, quantity_label
from stackviz.draw.colours import GREY, Hue, hues_of
from stackviz.intake.report_parts.facts import ShownFact, headline_fact, one_fact
from stackviz.intake.report_parts.hosts import judged_host
from stackviz.intake.report_parts.present import JudgedReport, stored_report
from stackviz.pages.compare.query import Address, Selection, Subject, SubjectKind, unknown_subject
from stackviz.records.catalog.fields import FIELDS
from stackviz.records.catalog.figures import for_people
from stackviz.records.catalog.models import Accelerator
from stackviz.records.catalog.past import withdrawn_since
from stackviz.records.catalog.queries import accelerators_by_slug
from stackviz.records.hosts.models import Host
from stackviz.records.hosts.queries import public_hosts
from stackviz.records.hosts.reported import host_report
from stackviz.records.labs.models import Card, Machine, Snapshot
from stackviz.records.labs.queries import (
    Visitor,
    latest_snapshots,
    merged_machines,
    snapshots_until,
    visible_machine,
    visible_machines,
)
from stackviz.records.stacks.models import Stack
from stackviz.records.stacks.past import public_stacks_at, unpublished_since
from stackviz.records.stacks.queries import public_stacks, stacks_of_accelerator
from stackviz.records.stacks.reported import stack_slug
from stackviz.web.http.address import Note

# Kinds of accelerator that the described stack of their vendor does not run: Gaudi has SynapseAI of its own.
ON_ANOTHER_STACK = frozenset({("intel", "asic")})


@dataclass(frozen=True, kw_only=True)
class Loaded:
    """One subject with what is known of it.

    `accelerator`: the sheet itself, or of a machine the sheet most of its cards match; None when there is none.
    `stack_slug`: the described stack it is drawn on; "" when none is described for it.
    `machine`, `snapshot`: of a machine only; a machine that has not reported yet has no snapshot. `host`: of a public
    host only; `stack_vendor`: of a stack only.
    """

    subject: Subject
    title: str
    url: str
    accelerator: Accelerator | None = None
    stack_slug: str = ""
    machine: Machine | None = None
    snapshot: Snapshot | None = None
    host: Host | None = None
    stack_vendor: str = ""

    @property
    def vendor(self) -> str:
        """The slug of the vendor whose colour it has; "" where nothing says whose cards it has."""
        if self.accelerator is not None:
            return self.accelerator.vendor.slug
        if self.host is not None:
            return self.host.vendor.slug
        cards = self.snapshot.cards.all() if self.snapshot is not None else ()
        return next((card.vendor for card in cards), self.stack_vendor)

    @property
    def has_cards(self) -> bool:
        """Whether it is a computer, whose sheet is that of its cards."""
        return self.machine is not None or self.host is not None

    @property
    def matched_cards(self) -> list[Card]:
        """Those that a machine reported last and that match its sheet."""
        if self.snapshot is None:
            return []
        return [card for card in self.snapshot.cards.all() if card.public_sheet == self.accelerator]

    @property
    def cards(self) -> int:
        """How many of its sheet's cards a computer has; 1 for a sheet, 0 for a stack."""
        if self.host is not None:
            return len(self.host.cards.all())
        if self.machine is not None:
            return len(self.matched_cards)
        return int(self.accelerator is not None)

    @cached_property
    def report(self) -> JudgedReport | None:
        """What the machine reported last, or the owner of a host described, read when a page needs it."""
        if self.host is not None:
            return judged_host(self.host)
        return stored_report(self.snapshot) if self.snapshot is not None else None


def load(
    selection: Selection, user: Visitor, at: datetime | None = None
) -> tuple[tuple[Loaded, ...], tuple[Note, ...]]:
    """(subjects found, in their order, no two of one title; notes of the selection, and of unknown or hidden names).

    `at`: a moment of the past, with stacks as described and machines as reported until then; who may see a machine is
    decided today, and hosts are shown as they are described today. At most five queries, whatever is stored: the
    editions, machines, and three for the machines' newest snapshots; three more for hosts. Five more where a machine is
    unknown: one that was merged is the machine that has its reports now, once. Of a moment, two more for what was
    withdrawn since, and two where any was.
    """
    loaded_by_subject = {
        **_sheets_and_stacks(selection, at),
        **_machines(selection.subjects, user, at),
        **_hosts(selection),
    }
    absent = [subject for subject in selection.of_kind(SubjectKind.MACHINE) if subject not in loaded_by_subject]
    loaded_by_subject |= _merged(absent, user, at) if absent else {}
    unknown = [subject for subject in selection.subjects if subject not in loaded_by_subject]
    in_order = (loaded_by_subject[subject] for subject in selection.subjects if subject in loaded_by_subject)
    by_subject = {loaded.subject: loaded for loaded in in_order}
    sheets = [loaded.accelerator for loaded in by_subject.values() if loaded.accelerator and not loaded.has_cards]
    withdrawn = withdrawn_notes(sheets, at) if at is not None and sheets else ()
    notes = (*selection.refused, *absent_notes(unknown, at), *withdrawn)
    return _with_unique_titles(tuple(by_subject.values())), notes


def _with_unique_titles(subjects: Sequence[Loaded]) -> tuple[Loaded, ...]:
    """Machines that share a title with another subject are called by their address too: `rack-7 (north/rack-7)`."""
    titles = Counter(loaded.title for loaded in subjects)
    return tuple(
        replace(loaded, title=f"{loaded.title} ({loaded.subject.lab}/{loaded.subject.slug})")
        if titles[loaded.title] > 1 and loaded.subject.kind is SubjectKind.MACHINE
        else loaded
        for loaded in subjects
    )


def _sheets_and_stacks(selection: Selection, at: datetime | None) -> dict[Subject, Loaded]:
    """Sheets and stacks asked for, and the stacks of the sheets' vendors."""
    sheets = {subject.slug: subject for subject in selection.of_kind(SubjectKind.ACCELERATOR)}
    stacks = {subject.slug: subject for subject in selection.of_kind(SubjectKind.STACK)}
    accelerators = accelerators_by_slug(sheets) if sheets else {}
    vendors = {accelerator.vendor.slug for accelerator in accelerators.values()}
    stacks_then = public_stacks() if at is None else public_stacks_at(at)
    rows = [stack for stack in stacks_then if stack.slug in stacks or stack.vendor in vendors]
    loaded = {
        sheets[slug]: Loaded(
            subject=sheets[slug],
            title=item.short_name,
            url=item.get_absolute_url(),
            accelerator=item,
            stack_slug=_stack_of(item, rows),
        )
        for slug, item in accelerators.items()
    }
    for stack in rows:
        if subject := stacks.get(stack.slug):
            loaded[subject] = Loaded(
                subject=subject,
                title=stack.local_name,
                url=stack.get_absolute_url(),
                stack_slug=stack.slug,
                stack_vendor=stack.vendor,
            )
    return loaded


def _stack_of(item: Accelerator, stacks: Sequence[Stack]) -> str:
    if (item.vendor.slug, item.kind) in ON_ANOTHER_STACK:
        return ""
    return next((stack.slug for stack in stacks_of_accelerator(stacks, item.vendor.slug, item.slug)), "")


def _merged(absent: Sequence[Subject], user: Visitor, at: datetime | None) -> dict[Subject, Loaded]:
    """Links, badges and embeds of a machine that was merged go on: each with the machine it was merged into."""
    labs, slugs = {subject.lab for subject in absent}, {subject.slug for subject in absent}
    rows = merged_machines(user).filter(lab__slug__in=labs, slug__in=slugs)
    now = {
        Subject(SubjectKind.MACHINE, row.slug, row.lab.slug): Subject(
            SubjectKind.MACHINE, row.merged_into.slug, row.lab.slug
        )
        for row in rows
        if row.merged_into is not None
    }
    there = _machines(now.values(), user, at)
    return {subject: there[now[subject]] for subject in absent if now.get(subject) in there}


def _machines(chosen: Iterable[Subject], user: Visitor, at: datetime | None) -> dict[Subject, Loaded]:
    of_machines = (subject for subject in chosen if subject.kind is SubjectKind.MACHINE)
    subjects = {(subject.lab, subject.slug): subject for subject in of_machines}
    if not subjects:
        return {}
    if len(subjects) == 1:
        machines = [machine for address in subjects if (machine := visible_machine(user, *address)) is not None]
    else:
        labs, slugs = ({address[part] for address in subjects} for part in (0, 1))
        candidates = visible_machines(user).filter(lab__slug__in=labs, slug__in=slugs)
        machines = [machine for machine in candidates if (machine.lab.slug, machine.slug) in subjects]
    snapshots = latest_snapshots(machines) if at is None else snapshots_until(machines, at)
    return {
        subject: _loaded_machine(subject, machine, snapshots.get(machine.pk))
        for machine in machines
        for subject in [subjects[machine.lab.slug, machine.slug]]
    }


def _loaded_machine(subject: Subject, machine: Machine, snapshot: Snapshot | None) -> Loaded:
    return Loaded(
        subject=subject,
        title=machine.name,
        url=machine.get_absolute_url(),
        accelerator=main_accelerator(snapshot) if snapshot else None,
        stack_slug=stack_slug(snapshot.facts, (card.vendor for card in snapshot.cards.all())) if snapshot else "",
        machine=machine,
        snapshot=snapshot,
    )


def _hosts(selection: Selection) -> dict[Subject, Loaded]:
    """The public hosts asked for. Three queries; none where there is no host among them."""
    subjects = {subject.slug: subject for subject in selection.of_kind(SubjectKind.HOST)}
    rows = public_hosts().filter(slug__in=subjects) if subjects else ()
    return {subjects[host.slug]: loaded_host(host) for host in rows}


def loaded_host(host: Host) -> Loaded:
    """Return a host as a subject. Its accelerator is that of all its cards; None where they differ or are not known."""
    report = host_report(host)
    return Loaded(
        subject=Subject(SubjectKind.HOST, host.slug),
        title=host.title,
        url=host.get_absolute_url(),
        accelerator=_accelerator_of_all(host),
        stack_slug=stack_slug(report.facts, (card.vendor for card in report.cards)),
        host=host,
    )


def _accelerator_of_all(host: Host) -> Accelerator | None:
    first, *others = [card.accelerator for card in host.cards.all()] or [None]
    return first if all(other == first for other in others) else None


def main_accelerator(snapshot: Snapshot) -> Accelerator | None:
    """The public sheet most of a machine's cards match; None when none is matched. No query when cards are loaded."""
    sheets = [sheet for card in snapshot.cards.all() if (sheet := card.public_sheet) is not None]
    if not sheets:
        return None
    most, _count = Counter(sheet.pk for sheet in sheets).most_common(1)[0]
    return next(sheet for sheet in sheets if sheet.pk == most)


def describe(loaded: Loaded) -> str:
    """What kind of thing the subject is, in a few words: the line under its name."""
    if loaded.machine is not None:
        return _("machine of %(lab)s") % {"lab": loaded.machine.lab.name}
    if loaded.host is not None:
        return _("public host")
    if loaded.subject.kind is SubjectKind.STACK:
        return _("stack as described")
    return _("spec sheet")


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """A subject as the head of its column.

    `remove_url`: this comparison without it; `base_url`: with factors against it.
    """

    slot: int
    name: str
    title: str
    subtitle: str
    url: str
    remove_url: str
    base_url: str
    hue: Hue = GREY

    @property
    def css(self) -> str:
        return f"s{self.slot + 1}"


def subject_hues(chosen: Iterable[Loaded]) -> tuple[Hue, ...]:
    return hues_of(loaded.vendor for loaded in chosen)


def heads_of(chosen: Sequence[Loaded], address: Address) -> tuple[Head, ...]:
    return tuple(
        Head(
            slot=slot,
            name=loaded.subject.name,
            title=loaded.title,
            subtitle=describe(loaded),
            url=loaded.url,
            remove_url=address.without(loaded.subject),
            base_url=address.query(base=loaded.subject),
            hue=hue,
        )
        for slot, (hue, loaded) in enumerate(zip(subject_hues(chosen), chosen, strict=True))
    )


def baseline(heads: Sequence[Head], address: Address) -> Head | None:
    """The column that factors are against: that of the subject asked for, or else the first of these."""
    requested = address.base.name if address.base else ""
    return next((head for head in heads if head.name == requested), heads[0] if heads else None)


def fit_subjects(chosen: Sequence[Loaded]) -> tuple[str, ...]:
    """What `/fit/compared/` calls them: `apple-m3-max-40:48`, `nvidia-h100-sxm5-80gb:0:8`, each once.

    A machine has the memory that it reported, where the GPU shares it, and the number of its cards.
    """
    return tuple(dict.fromkeys(filter(None, map(_fit_subject, chosen))))


def _fit_subject(loaded: Loaded) -> str:
    if loaded.accelerator is None:
        return ""
    slug = loaded.accelerator.slug
    if loaded.host is not None:
        is_unified = loaded.host.vendor.slug == "apple" and loaded.host.memory_bytes
        return _fit_text(slug, loaded.host.memory_bytes if is_unified else None, loaded.cards)
    if loaded.snapshot is None:
        return slug
    cards = loaded.matched_cards
    is_unified = any(card.facts.get("unified_memory") is True for card in cards)
    total = loaded.snapshot.facts.get("memory.total_bytes") if is_unified else None
    return _fit_text(slug, total if isinstance(total, int) else None, len(cards))


def _fit_text(slug: str, memory_bytes: int | None, cards: int) -> str:
    memory_gb = round(memory_bytes / 2**30) if memory_bytes else 0
    return f"{slug}:{memory_gb}:{cards}" if cards > 1 else f"{slug}:{memory_gb}" if memory_gb else slug


def heading(titles: Sequence[str]) -> str:
    """`H100 SXM against M3 Max 40-core and dgx-07`."""
    if not titles:
        return _("Compare")
    if len(titles) == 1:
        return titles[0]
    *middle, last = titles[1:]
    if not middle:
        return _("%(first)s vs. %(last)s") % {"first": titles[0], "last": last}
    return _("%(first)s vs. %(middle)s and %(last)s") % {
        "first": titles[0],
        "middle": ", ".join(middle),
        "last": last,
    }


# --- facts that the compared machines reported, row by row ---


@dataclass(frozen=True, slots=True)
class ProbedRow:
    title: str
    cells: tuple[ShownFact, ...]

    @property
    def differs(self) -> bool:
        return len({cell.text for cell in self.cells}) > 1


TITLES = {
    "cards": gettext_lazy("Accelerators"),
    "cpu.model": gettext_lazy("CPU"),
    "memory.total_bytes": gettext_lazy("Main memory"),
    "os.name": gettext_lazy("Operating system"),
    "nvidia.driver_version": gettext_lazy("NVIDIA driver"),
    "cuda.runtime_version": gettext_lazy("CUDA runtime"),
    "python.version": gettext_lazy("Python"),
    "torch.version": gettext_lazy("PyTorch"),
}
"""What a row is about -> its title, in the order of the rows."""


def probed_rows(machines: Sequence[Loaded]) -> tuple[ProbedRow, ...]:
    """A row per fact, a cell per machine or host in order; rows about which none says anything are left out."""
    rows = [ProbedRow(str(title), tuple(_cell(name, each) for each in machines)) for name, title in TITLES.items()]
    return tuple(row for row in rows if any(cell.text for cell in row.cells))


def _cell(name: str, loaded: Loaded) -> ShownFact:
    if loaded.report is None:
        return one_fact(name, {}, {})
    report = loaded.report.report
    fact = headline_fact(name, report.facts, report.absent)
    if name == "cards":
        return replace(fact, text=format_counts(card.reported_name for card in report.cards))
    if name == "memory.total_bytes" and fact.text:  # in short: columns are narrow
        return replace(fact, text=quantity_label(float(report.facts[name]), "B", binary=True, digits=3))
    if loaded.host is not None and not fact.text and name not in report.absent:
        return replace(fact, missing=_("not stated"))
    return fact


MOST_NAMED = 8  # of the figures


def absent_notes(subjects: Sequence[Subject], at: datetime | None) -> Iterator[Note]:
    """Why these are not shown. Of a stack that was public at the moment, that it is not any more."""
    stacks = [subject.slug for subject in subjects if subject.kind is SubjectKind.STACK]
    unpublished = unpublished_since(stacks, at) if stacks and at is not None else frozenset()
    for subject in subjects:
        if subject.kind is SubjectKind.STACK and subject.slug in unpublished:
            problem = _("“%(value)s” was public at this moment and is not any more") % {"value": subject.name}
            yield Note("a", problem, _("it is left out"))
        else:
            yield unknown_subject(subject)


def withdrawn_notes(accelerators: Iterable[Accelerator], at: datetime) -> Iterator[Note]:
    """Of each figure that these sheets had and that was retired since, which it is, and why; of many, how many more."""
    named = {item.pk: item for item in accelerators}
    withdrawn = withdrawn_since(named, at)
    for value, reason in withdrawn[:MOST_NAMED]:
        words = {
            "name": named[value.accelerator_id].short_name,
            "field": FIELDS[value.field].words[0] if value.field in FIELDS else value.field,
            "figure": for_people(value).label,
            "reason": reason,
        }
        problem = (
            _("%(name)s, %(field)s: %(figure)s was withdrawn since (%(reason)s)")
            if reason
            else _("%(name)s, %(field)s: %(figure)s was withdrawn since")
        )
        yield Note("at", problem % words, _("it is shown as it was published then"))
    more = len(withdrawn) - MOST_NAMED
    if more > 0:
        problem = ngettext("%(n)d more figure was withdrawn since", "%(n)d more figures were withdrawn since", more)
        yield Note("at", problem % {"n": more}, _("all stand here as they were published then"))
