"""The public change log: what was added, corrected, retired or removed in the catalogue, when, by whom and why.

Read from the history of the rows, newest first; nothing is stored for it. A step is told when the row was public before
or after it, and then only that side of it which was public. A load of the curated files is one entry with its counts.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import Count, Exists, Max, Model, OuterRef, Q, QuerySet, Subquery
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from stackviz.catalog.change import LOADED
from stackviz.catalog.conditions import describe
from stackviz.catalog.fields import FIELDS
from stackviz.catalog.figures import printed_unit
from stackviz.catalog.models import Accelerator, Alias, CatalogueLoad, SpecValue

PER_PAGE = 50
READ = 400  # records of each kind read for a page; what they leave over is the next page's
LOAD_TAKES = timedelta(minutes=10)  # at most; rows that older loads deleted left records without a reason
BULK = 8  # as many steps at once for one reason, or more, are told as one
AT_ONCE = timedelta(seconds=10)  # from one of them to the next
SHEET_RANK = 2
MOST_NAMED = 5  # accelerators named in an entry about many

# What the filter by field offers beside the registry's fields.
SHEETS, NAMES = "sheet", "name"

WHAT = {
    "added": gettext_lazy("added"),
    "changed": gettext_lazy("changed"),
    "preferred": gettext_lazy("preferred"),
    "alternative": gettext_lazy("made an alternative"),
    "retired": gettext_lazy("retired"),
    "withdrawn": gettext_lazy("withdrawn"),
    "removed": gettext_lazy("removed"),
}


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where an entry stands in the log. Of records of one moment values come first, then names, accelerators, loads."""

    when: datetime
    rank: int
    pk: int

    def __str__(self) -> str:
        return f"{self.when.astimezone(UTC):%Y%m%dT%H%M%S.%f}-{self.rank}-{self.pk}"

    @classmethod
    def read(cls, text: str) -> "Place | None":
        """None for a text that names no place."""
        moment, _dash, rest = text.partition("-")
        rank, _dash, pk = rest.partition("-")
        if not (rank in ("0", "1", "2", "3") and pk.isascii() and pk.isdecimal() and len(pk) < 18):
            return None
        try:
            when = datetime.strptime(moment, "%Y%m%dT%H%M%S.%f").replace(tzinfo=UTC)
        except ValueError:
            return None
        return cls(when, int(rank), int(pk))


@dataclass(frozen=True, slots=True)
class Asked:
    """Which part of the log is wanted. `load`: the single steps of one load of the files, instead of its one entry.

    `each`: steps that were done at once are told one by one all the same.
    """

    accelerator: str = ""
    vendor: str = ""
    field: str = ""
    load: int | None = None
    each: bool = False


@dataclass(frozen=True, slots=True)
class Entry:
    """One step, or many of one kind told as one (`count` > 1, `counts`: what happened to how many).

    `old` and `new` are what the public saw before and after, "" for nothing. `details`: what else is different now.
    `slug` is "" where the accelerator has no public sheet any more, or several are meant. `reason` may be "".
    """

    key: str
    when: datetime
    who: str
    what: str
    accelerator: str = ""
    slug: str = ""
    field: str = ""
    title: str = ""
    condition: str = ""
    old: str = ""
    new: str = ""
    details: tuple[str, ...] = ()
    reason: str = ""
    source_title: str = ""
    source_url: str = ""
    count: int = 1
    counts: tuple[str, ...] = ()
    load: int | None = None

    @property
    def what_happened(self) -> str:
        return str(WHAT.get(self.what, self.what))

    @property
    def headline(self) -> str:
        """The entry in one line, as a feed's title: `H100 SXM5: Board power changed: 650 W → 700 W`."""
        if self.counts:
            return f"{self.accelerator or self.who}: {'; '.join(self.counts)}"
        what = " ".join(filter(None, [self.title, f"({self.condition})" if self.condition else "", self.what_happened]))
        figures = " → ".join(filter(None, [self.old, self.new])) or "; ".join(self.details)
        return ": ".join(filter(None, [self.accelerator, what, figures]))


@dataclass(frozen=True, slots=True)
class Log:
    """A part of the log, newest first. `next_place`: where the older ones begin, None where there are none."""

    entries: tuple[Entry, ...]
    next_place: Place | None


@dataclass(frozen=True, slots=True)
class _Step:
    """One record of a history with the one before it (None: the row was made), read for one page."""

    place: Place
    record: Any
    before: Any

    @property
    def cause(self) -> tuple[object, ...]:
        return self.record.history_user_id, self.record.history_change_reason or ""

    @property
    def accelerator_id(self) -> int:
        return int(self.record.id if self.place.rank == SHEET_RANK else self.record.accelerator_id)


@dataclass(frozen=True, slots=True)
class _Kind:
    """One of the three histories that are read: how a step of it becomes an entry, and the state before it is found."""

    rank: int
    prefix: str
    model: type[Model]
    related: tuple[str, ...]
    is_shown: Callable[["QuerySet[Any]"], "QuerySet[Any]"]
    tell: Callable[[_Step], Entry | None]

    @property
    def history(self) -> Any:  # noqa: ANN401 - simple_history makes the class while running
        return self.model.history  # type: ignore[attr-defined]


@dataclass(frozen=True, slots=True)
class _Line:
    """An entry with its place and what joins it to its neighbours; a line of many steps ends at `last`."""

    place: Place
    last: Place
    cause: tuple[object, ...]
    rank: int
    entry: Entry


# --- which records the public may see ---


def _before(model: type[Model], name: str) -> Subquery:
    """A column of the record before, of the same row."""
    history: Any = model.history  # type: ignore[attr-defined]
    earlier = history.filter(id=OuterRef("id"), history_id__lt=OuterRef("history_id")).order_by("-history_id")
    return Subquery(earlier.values(name)[:1])


def _public_values(rows: "QuerySet[Any]") -> "QuerySet[Any]":
    public = SpecValue.Status.PUBLIC
    rows = rows.annotate(status_before=_before(SpecValue, "status"))
    return _of_public_sheets(rows.filter(Q(status=public) | Q(status_before=public)))


def _of_public_sheets(rows: "QuerySet[Any]") -> "QuerySet[Any]":
    """Steps on sheets that were public at the time and still are, or were until they were removed."""
    history: Any = Accelerator.history
    of_sheet = history.filter(id=OuterRef("accelerator_id"))
    then = of_sheet.filter(history_date__lte=OuterRef("history_date")).order_by("-history_date", "-history_id")
    # Not by a join: filtered by accelerator it would be an inner one, and lose what was removed.
    is_public = Exists(Accelerator.objects.filter(pk=OuterRef("accelerator_id"), is_public=True))
    is_there = is_public | Exists(of_sheet.filter(history_type="-", is_public=True))
    rows = rows.annotate(sheet_was_public=Subquery(then.values("is_public")[:1]))
    return rows.filter(is_there).exclude(sheet_was_public=False)


def _public_sheets(rows: "QuerySet[Any]") -> "QuerySet[Any]":
    rows = rows.annotate(public_before=_before(Accelerator, "is_public"))
    return rows.filter(Q(is_public=True) | Q(public_before=True))


def _wanted(rows: "QuerySet[Any]", kind: _Kind, asked: Asked) -> "QuerySet[Any]":
    """The records of one history that the filters let through."""
    row_of = "id" if kind.model is Accelerator else "accelerator_id"
    history: Any = Accelerator.history
    if asked.accelerator:
        same = Accelerator.objects.filter(slug=asked.accelerator).values("pk")
        was = history.filter(slug=asked.accelerator).values("id")
        rows = rows.filter(Q(**{f"{row_of}__in": same}) | Q(**{f"{row_of}__in": was}))
    if asked.vendor:
        now = Accelerator.objects.filter(vendor__slug=asked.vendor).values("pk")
        was = history.filter(vendor__slug=asked.vendor).values("id")
        rows = rows.filter(Q(**{f"{row_of}__in": now}) | Q(**{f"{row_of}__in": was}))
    if asked.field and kind.model is SpecValue:
        return rows.filter(field=asked.field)
    only = {SHEETS: Accelerator, NAMES: Alias}.get(asked.field, SpecValue)
    return rows if not asked.field or kind.model is only else rows.none()


# --- loads of the curated files ---


def _by_loader() -> Q:
    """Records that the loader left: its own reason, or rows of the files deleted shortly before a load was finished."""
    finished = CatalogueLoad.objects.filter(
        loaded_at__gte=OuterRef("history_date"), loaded_at__lte=OuterRef("history_date") + LOAD_TAKES
    )
    nobody = Q(history_user__isnull=True)
    silent = Q(Exists(finished), history_type="-", history_change_reason__isnull=True, data_key__isnull=False)
    return nobody & (Q(history_change_reason__startswith=LOADED) | silent)


def _in_load(load: CatalogueLoad, load_before: datetime | None) -> Q:
    begun = max(filter(None, [load_before, load.loaded_at - LOAD_TAKES]))
    return Q(history_date__gt=begun, history_date__lte=load.loaded_at)


def _loads(before: Place | None) -> list[tuple[CatalogueLoad, datetime | None]]:
    """The loads that may stand on the page, newest first, each with the time of the one before it. One query."""
    rows = CatalogueLoad.objects.order_by("-loaded_at", "-pk")
    if before is not None:
        rows = rows.filter(_after(before, rank=3, when="loaded_at", pk="pk"))
    found = list(rows[: PER_PAGE + 2])
    earlier = [load.loaded_at for load in found[1:]]
    return [
        (load, earlier[index] if index < len(earlier) else None) for index, load in enumerate(found[: PER_PAGE + 1])
    ]


def _counts(kind: _Kind, loads: Sequence[tuple[CatalogueLoad, datetime | None]], asked: Asked) -> list[dict[str, int]]:
    """For each load: type of record -> how many of them the public may see. One query."""
    if not loads:
        return []
    windows = [_in_load(load, earlier) for load, earlier in loads]
    anyone = windows[0]
    for window in windows[1:]:
        anyone |= window
    rows = kind.is_shown(_wanted(kind.history.filter(_by_loader() & anyone), kind, asked))
    sums = {
        f"n{index}{name}": Count("history_id", filter=window & Q(history_type=sign))
        for index, window in enumerate(windows)
        for name, sign in (("added", "+"), ("changed", "~"), ("removed", "-"))
    }
    found = rows.aggregate(**sums)
    return [
        {name: found[f"n{index}{name}"] for name in ("added", "changed", "removed")} for index in range(len(windows))
    ]


def _load_lines(before: Place | None, asked: Asked) -> tuple[list[_Line], Place | None]:
    """Loads that changed something public -> (their lines, where older loads may begin). Four queries."""
    loads = _loads(before)
    shown = loads[:PER_PAGE]
    by_kind = [_counts(kind, shown, asked) for kind in KINDS]
    lines = []
    for index, (load, _earlier) in enumerate(shown):
        counted = [(kind.rank, what, n) for kind in KINDS for what, n in by_kind[kind.rank][index].items() if n]
        if counted:
            place = Place(load.loaded_at, 3, load.pk)
            lines.append(_Line(place, place, ("load", load.pk), 3, _load_entry(load, counted)))
    last = shown[-1][0] if len(loads) > PER_PAGE else None
    return lines, Place(last.loaded_at, 3, last.pk) if last else None


def _load_entry(load: CatalogueLoad, counted: Sequence[tuple[int, str, int]]) -> Entry:
    return Entry(
        key=f"load-{load.pk}",
        when=load.loaded_at,
        who=_("the catalogue's files"),
        what="loaded",
        reason=_("version %(version)s") % {"version": load.version[:12]},
        count=sum(n for _rank, _what, n in counted),
        counts=tuple(counted_words(*line) for line in counted),
        load=load.pk,
    )


def counted_words(rank: int, what: str, n: int) -> str:
    """`4,812 values added`."""
    nouns = {
        0: ngettext("%(n)s value", "%(n)s values", n),
        1: ngettext("%(n)s name", "%(n)s names", n),
        2: ngettext("%(n)s accelerator", "%(n)s accelerators", n),
    }
    return _("%(things)s %(happened)s") % {"things": nouns[rank] % {"n": f"{n:,}"}, "happened": WHAT.get(what, what)}


# --- single steps ---


def _after(place: Place, *, rank: int, when: str = "history_date", pk: str = "history_id") -> Q:
    """Rows of the history with this rank that come after the place: older, or of the same moment and further down."""
    older = Q(**{f"{when}__lt": place.when})
    if rank > place.rank:
        return older | Q(**{when: place.when})
    if rank == place.rank:
        return older | Q(**{when: place.when, f"{pk}__lt": place.pk})
    return older


def _steps(kind: _Kind, before: Place | None, asked: Asked) -> list[_Step]:
    """The next READ records of one history with those before them. Two queries."""
    rows = kind.history.order_by("-history_date", "-history_id")
    if before is not None:
        rows = rows.filter(_after(before, rank=kind.rank))
    rows = rows.exclude(_by_loader()) if asked.load is None else rows.filter(_by_loader() & _window_of(asked.load))
    rows = kind.is_shown(_wanted(rows, kind, asked)).annotate(before_id=_before(kind.model, "history_id"))
    records = list(rows.select_related("history_user", *kind.related)[:READ])
    ids = [record.before_id for record in records if record.before_id]
    befores = kind.history.select_related(*kind.related).in_bulk(ids)
    return [
        _Step(Place(record.history_date, kind.rank, record.history_id), record, befores.get(record.before_id))
        for record in records
    ]


def _window_of(load_pk: int) -> Q:
    load = CatalogueLoad.objects.filter(pk=load_pk).first()
    if load is None:
        return Q(pk__in=[])
    earlier = CatalogueLoad.objects.filter(loaded_at__lt=load.loaded_at).aggregate(last=Max("loaded_at"))["last"]
    return _in_load(load, earlier)


def _entry(step: _Step, what: str, **told: Any) -> Entry:  # noqa: ANN401 - the fields of an Entry
    record = step.record
    return Entry(
        key=f"{KINDS[step.place.rank].prefix}-{record.history_id}",
        when=record.history_date,
        who=_who(step),
        what=what,
        reason=_reason(record),
        **told,
    )


def _who(step: _Step) -> str:
    """Who did it; and who approved it, where a second person has."""
    record, before = step.record, step.before
    if record.history_user:
        who = _person(record.history_user)
        if step.place.rank != 0 or not record.checked_by or record.checked_by_id == record.history_user_id:
            return who
        if before is not None and before.checked_at == record.checked_at:
            return who  # checked on another occasion
        return _("%(who)s, approved by %(other)s") % {"who": who, "other": _person(record.checked_by)}
    if (record.history_change_reason or "").startswith(LOADED):
        return _("the catalogue's files")
    return _("not recorded")


def _person(user: Any) -> str:  # noqa: ANN401 - a user of whatever model
    return user.get_full_name() or str(user.get_username())


def _reason(record: Any) -> str:  # noqa: ANN401
    reason = record.history_change_reason or ""
    return "" if reason.startswith(LOADED) else reason


def _happened(step: _Step, is_public: bool, was_public: bool) -> str:  # noqa: FBT001 - the two sides of a step
    if step.record.history_type == "-":
        return "removed" if is_public else ""
    if is_public:
        return "changed" if was_public else "added"
    return "withdrawn" if was_public else ""


def _tell_value(step: _Step) -> Entry | None:
    """A step of a value, or None where the public saw no difference."""
    after, before = step.record, step.before
    is_public = after.status == SpecValue.Status.PUBLIC
    if before is not None and before.accelerator_id != after.accelerator_id:
        before = None  # it came from another sheet, which may not be public
    was_public = before is not None and before.status == SpecValue.Status.PUBLIC
    what = _happened(step, is_public, was_public)
    if what == "withdrawn" and after.status == SpecValue.Status.RETIRED:
        what = "retired"
    is_shown_after = is_public and what != "removed"
    old = _figure(after if what == "removed" else before) if was_public or what == "removed" else ""
    new = _figure(after) if is_shown_after else ""
    details: tuple[str, ...] = ()
    if what == "changed":
        details = _differences(before, after)
        if old == new and not details:
            if before.is_preferred == after.is_preferred:
                return None
            what = "preferred" if after.is_preferred else "alternative"
            old = ""
    if not what:
        return None
    registered = FIELDS.get(after.field)
    source = after.source if is_shown_after else (before or after).source
    return _entry(
        step,
        what,
        field=after.field,
        title=registered.words[0] if registered else after.field,
        condition=describe(after.condition if is_public else (before or after).condition),
        old=old if old != new else "",
        new=new,
        details=details,
        source_title=source.title if source else "",
        source_url=source.url if source else "",
    )


def _figure(record: Any) -> str:  # noqa: ANN401
    return f"{record.value} {printed_unit(record.unit)}".rstrip()


def _differences(before: Any, after: Any) -> tuple[str, ...]:  # noqa: ANN401
    """What of a value differs beside its figure, in words."""
    found = []
    if before.condition != after.condition:
        old, new = describe(before.condition) or _("none"), describe(after.condition) or _("none")
        found.append(_("condition: %(old)s → %(new)s") % {"old": old, "new": new})
    if before.source_id != after.source_id and before.source:
        found.append(_("source before: %(title)s") % {"title": before.source.title})
    if before.basis != after.basis:
        found.append(f"{SpecValue.Basis(before.basis).label} → {SpecValue.Basis(after.basis).label}")
    if before.field != after.field and before.field in FIELDS:
        found.append(_("was entered as %(field)s") % {"field": FIELDS[before.field].words[0]})
    if before.note != after.note:
        found.append(_("note: %(note)s") % {"note": after.note} if after.note else _("the note was taken away"))
    return tuple(found)


def _tell_name(step: _Step) -> Entry | None:
    after, before = step.record, step.before
    if before is not None and before.accelerator_id != after.accelerator_id:
        before = None
    what = _happened(step, is_public=True, was_public=before is not None)
    old = name_with_needs(after if what == "removed" else before) if what != "added" else ""
    new = name_with_needs(after) if what != "removed" else ""
    if old == new:
        return None
    return _entry(
        step,
        what,
        field=NAMES,
        title=_("name"),
        old=old,
        new=new,
        source_title=after.source.title if after.source else "",
        source_url=after.source.url if after.source else "",
    )


def name_with_needs(alias: Any) -> str:  # noqa: ANN401 - an Alias or a record of one
    """`Apple M3 Max, with 30 GPU cores`."""
    parts = [alias.name]
    if alias.kind == Alias.Kind.UNDECIDED:
        parts.append(_("the name alone does not decide"))
    if alias.gpu_cores:
        parts.append(_("with %(n)d GPU cores") % {"n": alias.gpu_cores})
    if alias.memory_bytes:
        parts.append(_("with %(size)s GB of memory") % {"size": f"{alias.memory_bytes / 1e9:g}"})
    return ", ".join(parts)


_SHEET_COLUMNS = {
    "name": gettext_lazy("name"),
    "slug": gettext_lazy("address"),
    "kind": gettext_lazy("kind"),
    "family": gettext_lazy("family"),
}


def _tell_sheet(step: _Step) -> Entry | None:
    after, before = step.record, step.before
    was_public = before is not None and before.is_public
    what = _happened(step, after.is_public, was_public)
    details = []
    if what == "changed":
        details = [
            f"{title}: {getattr(before, column) or '–'} → {getattr(after, column) or '–'}"
            for column, title in _SHEET_COLUMNS.items()
            if getattr(before, column) != getattr(after, column)
        ]
        if before.vendor_id != after.vendor_id:
            details.append(_("vendor: %(old)s → %(new)s") % {"old": before.vendor, "new": after.vendor})
    if not what or (what == "changed" and not details):
        return None
    return _entry(
        step,
        what,
        accelerator=after.name if after.is_public else before.name,
        field=SHEETS,
        title=_("accelerator"),
        details=tuple(details),
    )


KINDS = (
    _Kind(0, "value", SpecValue, ("source", "checked_by"), _public_values, _tell_value),
    _Kind(1, "name", Alias, ("source",), _of_public_sheets, _tell_name),
    _Kind(2, "accelerator", Accelerator, ("vendor",), _public_sheets, _tell_sheet),
)


# --- a page of the log ---


def read_log(asked: Asked, before: Place | None = None, length: int = PER_PAGE) -> Log:
    """The newest `length` entries of what is asked for, older than `before`. Constant queries, whatever the history."""
    read = [_steps(kind, before, asked) for kind in KINDS]
    loads, older_loads = ([], None) if asked.load is not None else _load_lines(before, asked)
    ends = [steps[-1].place for steps in read if len(steps) == READ] + ([older_loads] if older_loads else [])
    horizon = max(ends, key=_order, default=None)
    lines = sorted([*_told([step for steps in read for step in steps]), *loads], key=_line_order, reverse=True)
    if horizon is not None:  # what lies beyond it may miss its neighbours: it is the next page's
        lines = [line for line in lines if _order(line.place) >= _order(horizon)]
    if asked.load is None and not asked.each:
        lines = _joined(lines)
        if horizon is not None and lines and lines[-1].last == horizon and lines[-1].entry.counts:
            last = lines[-1]  # it goes on beyond what was read
            counts = (*last.entry.counts, _("and more, on the next page"))
            lines[-1] = replace(last, entry=replace(last.entry, counts=counts))
    shown = lines[:length]
    return Log(tuple(line.entry for line in shown), shown[-1].last if len(lines) > length else horizon)


def _order(place: Place) -> tuple[datetime, int, int]:
    """Newest first when sorted downwards; of one moment the lower rank comes first."""
    return place.when, -place.rank, place.pk


def _line_order(line: _Line) -> tuple[datetime, int, int]:
    return _order(line.place)


def _told(steps: Sequence[_Step]) -> list[_Line]:
    """The steps as the public may read them, without those that changed nothing for it. Two queries."""
    whose = {step.accelerator_id for step in steps}
    sheets = Accelerator.objects.in_bulk(whose)
    history: Any = Accelerator.history
    names = dict(history.filter(id__in=whose - sheets.keys(), history_type="-").values_list("id", "name"))
    lines = []
    for step in steps:
        entry = KINDS[step.place.rank].tell(step)
        if entry is not None:
            sheet = sheets.get(step.accelerator_id)
            entry = replace(
                entry,
                accelerator=entry.accelerator or (sheet.name if sheet else names.get(step.accelerator_id, "")),
                slug=sheet.slug if sheet and sheet.is_public else "",
            )
            lines.append(_Line(step.place, step.place, step.cause, step.place.rank, entry))
    return lines


def _joined(lines: Sequence[_Line]) -> list[_Line]:
    """Lines of one cause that followed each other at once are one, where they are BULK or more."""
    found: list[_Line] = []
    run: list[_Line] = []
    for line in lines:
        if run and (run[-1].cause != line.cause or run[-1].place.when - line.place.when > AT_ONCE):
            found += _one_of(run)
            run = []
        run.append(line)
    return found + _one_of(run)


def _one_of(run: list[_Line]) -> list[_Line]:
    if len(run) < BULK:
        return run
    counted = Counter((line.rank, line.entry.what) for line in run)
    whose = list(dict.fromkeys(line.entry.accelerator for line in run if line.entry.accelerator))
    more = _(" and %(n)s more") % {"n": f"{len(whose) - MOST_NAMED:,}"} if len(whose) > MOST_NAMED else ""
    first = run[0].entry
    entry = Entry(
        key=first.key,
        when=first.when,
        who=first.who,
        what="many",
        accelerator=", ".join(whose[:MOST_NAMED]) + more,
        slug=first.slug if len(whose) == 1 else "",
        reason=first.reason,
        count=len(run),
        counts=tuple(counted_words(rank, what, n) for (rank, what), n in sorted(counted.items())),
    )
    return [_Line(run[0].place, run[-1].last, run[0].cause, run[0].rank, entry)]
