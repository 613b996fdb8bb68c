"""Rows whose every change is recorded, whichever form, command or shell makes it."""

from collections.abc import Callable, Collection
from contextvars import ContextVar
from typing import Any, TypeVar

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.db.models import Model
from django.db.models.signals import m2m_changed, post_delete, post_save, pre_save
from django.http import HttpRequest, HttpResponseBase

from stackviz.records.audit.models import AuditEntry
from stackviz.web.http.request_ids import current_request_id

_request: ContextVar[HttpRequest | None] = ContextVar("audit_request", default=None)
_SUBJECT_CHARS = 300


class RememberRequest:
    """Middleware. Whoever acts is looked up only when something is recorded."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        token = _request.set(request)
        try:
            return self.get_response(request)
        finally:
            _request.reset(token)


def record(
    action: str,
    subject: str,
    by: AbstractBaseUser | AnonymousUser | None = None,
    /,
    **details: Any,  # noqa: ANN401 (JSON)
) -> None:
    """Add an entry. `by` None: whoever sent the request that is being answered, if there is one. One query.

    Call it inside the transaction of the change: neither is stored without the other.
    """
    AuditEntry.objects.create(
        by=by.pk if by is not None else _whoever_asks(),
        action=action,
        subject=subject[:_SUBJECT_CHARS],
        details=details,
        request_id=current_request_id()[:64],
    )


def _whoever_asks() -> int | None:
    request = _request.get()
    user = getattr(request, "user", None)
    return user.pk if user is not None else None


Row = TypeVar("Row", bound=Model)
WATCHED: set[type[Model]] = set()  # whose every change is in the audit log
_CHANGES = "_changes_to_record"


def watch(
    model: type[Row],
    name: str,
    subject: Callable[[Row], str],
    *,
    shown: Collection[str] = (),
    noted: Collection[str] = (),
) -> None:
    """Record `<name>.created`, `.changed` and `.deleted`. Of `shown` fields the values are recorded, of `noted` ones
    only that they changed.
    """
    watched = (*shown, *noted)
    WATCHED.add(model)

    def before_save(instance: Row, raw: bool, update_fields: Collection[str] | None, **_signal: Any) -> None:  # noqa: ANN401, FBT001
        fields = [field for field in watched if update_fields is None or field in update_fields]
        if raw or instance._state.adding or not fields:  # noqa: SLF001 (Django's documented API)
            return
        old = type(instance)._base_manager.filter(pk=instance.pk).values(*fields).first() or {}  # noqa: SLF001
        changed = {field: (old[field], getattr(instance, field)) for field in old}
        setattr(instance, _CHANGES, {field: pair for field, pair in changed.items() if pair[0] != pair[1]})

    def after_save(instance: Row, created: bool, raw: bool, **_signal: Any) -> None:  # noqa: ANN401, FBT001
        if raw:
            return
        if created:
            record(f"{name}.created", subject(instance), **{field: getattr(instance, field) for field in shown})
            return
        changes = instance.__dict__.pop(_CHANGES, {})
        if changes:
            words = {field: list(pair) if field in shown else "changed" for field, pair in changes.items()}
            record(f"{name}.changed", subject(instance), **words)

    def after_delete(instance: Row, **_signal: Any) -> None:  # noqa: ANN401
        record(f"{name}.deleted", subject(instance))

    pre_save.connect(before_save, sender=model, weak=False, dispatch_uid=f"audit {name} before")
    post_save.connect(after_save, sender=model, weak=False, dispatch_uid=f"audit {name} saved")
    post_delete.connect(after_delete, sender=model, weak=False, dispatch_uid=f"audit {name} deleted")


def watch_sets(through: type[Model], action: str, subject: Callable[[Any], str]) -> None:
    """Record what is added to and removed from a set, such as the groups of an account, by their numbers."""

    def changed(instance: Model, pk_set: Collection[int] | None, **signal: Any) -> None:  # noqa: ANN401
        step = str(signal["action"])
        change = step.removeprefix("post_")
        if step == "post_clear" and not signal["reverse"]:
            record(action, subject(instance), change=change)
        elif change in {"add", "remove"} and pk_set and signal["reverse"]:
            for row in signal["model"]._base_manager.filter(pk__in=pk_set).order_by("pk"):  # noqa: SLF001
                record(action, subject(row), change=change, names=[str(instance)])
        elif change in {"add", "remove"} and pk_set:
            record(action, subject(instance), change=change, names=_names(signal["model"], pk_set))

    m2m_changed.connect(changed, sender=through, weak=False, dispatch_uid=f"audit {action}")


def _names(model: type[Model], keys: Collection[int]) -> list[str]:
    return [str(row) for row in model._base_manager.filter(pk__in=keys).order_by("pk")]  # noqa: SLF001
