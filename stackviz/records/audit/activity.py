"""Who did what, from every record of it, in one vocabulary: an action is `<kind>.<verb>`, as in the audit log.

Three records name a person. The audit log has accounts, labs, keys and decisions, also those that can be undone. The
history of curated rows has every state of the catalogue, stacks and cited results. Django's admin has what its forms
did. `/changes/` shows the history by value to everybody; events of a lab are what machines did, not people.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache
from heapq import merge
from itertools import islice
from typing import Any

from django.apps import apps
from django.contrib.admin.models import ADDITION, CHANGE, DELETION, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db.models import Model, QuerySet
from django.utils import timezone
from simple_history.utils import get_history_model_for_model

from stackviz.records.audit.models import AuditEntry
from stackviz.records.audit.record import WATCHED

VERBS_OF_HISTORY = {"+": "created", "~": "changed", "-": "deleted"}
VERBS_OF_ADMIN = {ADDITION: "created", CHANGE: "changed", DELETION: "deleted"}
AUDITED_KINDS = (
    "account", "backup", "correction", "group", "invitation", "key", "lab", "machine", "member", "name", "proposal",
    "recovery-codes", "report", "result", "second-factor", "watched-change", "webhook",
)  # fmt: skip
# Models that the audit log calls by another name.
KINDS_OF_MODELS = {
    "agentkey": "key",
    "membership": "member",
    "namedecision": "name",
    "readercorrection": "correction",
    "staticdevice": "recovery-codes",
    "totpdevice": "second-factor",
    "user": "account",
    "watchedchange": "watched-change",
}


@dataclass(frozen=True, slots=True)
class Activity:
    """One thing that somebody did. `by`: the number of an account, None for a command or task; `why`: a comment."""

    at: datetime
    by: int | None
    action: str
    subject: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class ActivityQuery:
    """Which activities are asked for: of one account, of one kind, of one day in UTC."""

    by: int | None = None
    kind: str = ""
    day: date | None = None

    def filters(self, person: str, time: str) -> dict[str, Any]:
        """Return the filters by account and day of a query set whose fields have these names."""
        filters: dict[str, Any] = {person: self.by} if self.by is not None else {}
        if self.day is not None:
            begin = datetime.combine(self.day, datetime.min.time(), timezone.get_current_timezone())
            end = datetime.combine(self.day, datetime.max.time(), begin.tzinfo)
            filters |= {f"{time}__gte": begin, f"{time}__lte": end}
        return filters


def activities(query: ActivityQuery, first: int, last: int) -> list[Activity]:
    """Return the activities from position `first` to before `last`, newest first. One query for each record."""
    sources = [
        _audited(query, last),
        _done_in_admin(query, last),
        *(_history(model, query, last) for kind, model in _curated_models().items() if query.kind in ("", kind)),
    ]
    return list(islice(merge(*sources, key=lambda activity: activity.at, reverse=True), first, last))


def activity_kinds() -> list[str]:
    return sorted({*AUDITED_KINDS, *_curated_models()})


def _audited(query: ActivityQuery, most: int) -> Iterator[Activity]:
    """Its `admin.posted` is left out: Django's own log has what the form did."""
    entries: QuerySet[AuditEntry] = AuditEntry.objects.filter(**query.filters("by", "at")).exclude(
        action="admin.posted"
    )
    if query.kind:
        entries = entries.filter(action__startswith=f"{query.kind}.")
    for entry in entries.order_by("-at", "-pk")[:most]:
        yield Activity(entry.at, entry.by, entry.action, entry.subject)


def _done_in_admin(query: ActivityQuery, most: int) -> Iterator[Activity]:
    """What another record has is left out: its log would list the act a second time."""
    recorded = ContentType.objects.get_for_models(*WATCHED, *_curated_models().values()).values()
    entries = LogEntry.objects.filter(**query.filters("user_id", "action_time")).select_related("content_type")
    entries = entries.exclude(content_type__in=[row.pk for row in recorded])
    if query.kind:
        models = [name for name, kind in KINDS_OF_MODELS.items() if kind == query.kind] or [query.kind]
        entries = entries.filter(content_type__model__in=models)
    for entry in entries.order_by("-action_time", "-pk")[:most]:
        model = entry.content_type.model if entry.content_type else "admin"
        action = f"{KINDS_OF_MODELS.get(model, model)}.{VERBS_OF_ADMIN[entry.action_flag]}"
        yield Activity(entry.action_time, entry.user_id, action, entry.object_repr, entry.get_change_message())


def _history(model: type[Model], query: ActivityQuery, most: int) -> Iterator[Activity]:
    """Only what people did: a load of the curated files has no person."""
    states = get_history_model_for_model(model).objects.filter(history_user__isnull=False)
    states = states.filter(**query.filters("history_user_id", "history_date"))
    kind = str(model._meta.model_name)  # noqa: SLF001 (Django's documented API)
    for state in states.order_by("-history_date", "-history_id")[:most]:
        named = str(getattr(state, "slug", "") or getattr(state, "field", "") or getattr(state, "name", ""))
        yield Activity(
            at=state.history_date,
            by=state.history_user_id,
            action=f"{kind}.{VERBS_OF_HISTORY[state.history_type]}",
            subject=f"{kind} {state.id} {named}".rstrip(),
            why=state.history_change_reason or "",
        )


@cache
def _curated_models() -> dict[str, type[Model]]:
    """Return the models whose every state is kept, by kind."""
    return {
        str(model._meta.model_name): model  # noqa: SLF001 (Django's documented API)
        for model in apps.get_models()
        if hasattr(model, "history") and not hasattr(model, "instance_type")
    }
