"""Rows of curated files: where they come from, their history, which load wrote them, the edition of their tables."""

import hashlib
import re
import uuid
from collections.abc import Collection, Iterable
from functools import cache
from typing import Any, ClassVar, Self, TypeVar
from urllib.parse import urlsplit

from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator, URLValidator
from django.db import connection, models
from django.dispatch import Signal
from django.utils.translation import gettext_lazy as _
from simple_history.models import HistoricalRecords

from stackviz.web.http.request_memo import forget, remember

is_slug = RegexValidator(r"\A[a-z0-9]+(?:-[a-z0-9]+)*\Z", _("lower case letters, digits and single dashes only"))
# Tabs and ends of lines are text. The last two ranges turn the order of what is shown behind them.
CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff\u202a-\u202e\u2066-\u2069]")
is_readable = RegexValidator(
    CONTROLS, _("Remove the control characters: they are invisible and break files."), inverse_match=True
)
is_web_address = URLValidator(schemes=["http", "https"])
MOST_PROBLEMS_SHOWN = 20


class CuratedDataError(ValueError):
    """The curated files contradict themselves or the registry; `problems` are "file:line: what is wrong"."""

    def __init__(self, problems: list[str]) -> None:
        shown = problems[:MOST_PROBLEMS_SHOWN]
        more = [f"… and {len(problems) - len(shown)} more"] if len(problems) > len(shown) else []
        super().__init__("\n".join([*shown, *more]))
        self.problems = problems


def is_source_page(text: str) -> bool:
    """Whether it is an http(s) address of a page on the web; the front page of a site proves nothing."""
    try:
        address = urlsplit(text)
    except ValueError:
        return False
    is_on_web = address.scheme in ("http", "https") and "." in (address.hostname or "") and " " not in text
    return is_on_web and bool(address.path.strip("/") or address.query)


def history_records() -> HistoricalRecords:
    """Every state of a row with its reason; it outlives the row it belongs to."""
    return HistoricalRecords(history_change_reason_field=models.TextField(null=True), cascade_delete_history=False)


rows_written = Signal()  # sent for a model whose rows were written in bulk, which Django sends no signal for
_Row = TypeVar("_Row", bound=models.Model)


class _AnnouncingQuerySet(models.QuerySet[_Row]):
    """`bulk_update` announces itself too: it is made of updates."""

    def update(self, **changes: Any) -> int:  # noqa: ANN401 - as Django's
        count = super().update(**changes)
        rows_written.send(self.model)
        return count

    def bulk_create(self, objs: Iterable[_Row], *args: Any, **options: Any) -> list[_Row]:  # noqa: ANN401
        rows = super().bulk_create(objs, *args, **options)
        rows_written.send(self.model)
        return rows


class AnnouncingManager(models.Manager[_Row]):
    """Sends `rows_written` after a bulk write, so that an edition moves with it."""

    def get_queryset(self) -> models.QuerySet[_Row]:
        return _AnnouncingQuerySet(self.model, using=self._db)


class Curated(models.Model):
    """A row that the curated files may have written.

    `data_key` names it there, null for rows made by hand. `loaded_digest` is the digest of what was last loaded: a row
    whose own digest differs has been corrected here, and a later load leaves it alone.
    """

    data_key = models.CharField(max_length=300, unique=True, null=True, blank=True, editable=False)
    loaded_digest = models.CharField(max_length=32, blank=True, editable=False)
    changed_at = models.DateTimeField(auto_now=True)

    objects: ClassVar[models.Manager[Self]] = AnnouncingManager()
    _change_reason: str | None = None  # simple_history writes it into the history record

    class Meta:
        abstract = True

    def set_change_reason(self, reason: str) -> None:
        """Say why the row is about to change; the next save writes it into the history."""
        self._change_reason = reason

    @property
    def change_reason(self) -> str:
        """What `set_change_reason` was called with; "" where it was not."""
        return self._change_reason or ""

    def content(self) -> tuple[object, ...]:
        """What the curated files say about this row, in a fixed order; plain values, since their repr is hashed."""
        raise NotImplementedError

    def clean_fields(self, exclude: Collection[str] | None = None) -> None:
        """Raise ValidationError for control characters in any text."""
        problems: dict[str, Any] = {}
        try:
            super().clean_fields(exclude)
        except ValidationError as error:
            problems = error.update_error_dict(problems)
        for field in self._meta.concrete_fields:
            if field.name not in (exclude or ()) and field.name not in problems:
                try:
                    is_readable(str(getattr(self, field.attname)))
                except ValidationError as error:
                    problems[field.name] = [error]
        if problems:
            raise ValidationError(problems)

    @property
    def digest(self) -> str:
        return hashlib.blake2b(repr(self.content()).encode(), digest_size=16).hexdigest()

    @property
    def is_corrected_here(self) -> bool:
        """Whether somebody changed the row after it was loaded."""
        return bool(self.data_key) and self.digest != self.loaded_digest


class FileLoad(models.Model):
    """One load of a room's curated files: which version, when, and what it did."""

    version = models.CharField(max_length=64)
    loaded_at = models.DateTimeField(auto_now_add=True)
    summary = models.TextField(blank=True)

    class Meta:
        abstract = True
        ordering = ["-loaded_at", "-pk"]
        get_latest_by = "loaded_at"

    def __str__(self) -> str:
        return f"{self.version[:12]} {self.loaded_at:%Y-%m-%d %H:%M}"

    @classmethod
    def latest_version(cls) -> str | None:
        """The version that is loaded; None before the first load. One query."""
        return cls._default_manager.values_list("version", flat=True).first()


class EditionRow(models.Model):
    """Names the present content of a room's tables in one row: a new token with every change.

    Values computed from the tables are cached per token, so that a correction shows at once in every process. Saves,
    deletions and bulk writes of the models named to `renew_with` renew it through signals; only SQL written by hand
    must call `renew` itself.
    """

    token = models.CharField(max_length=32)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.token

    @classmethod
    def renew(cls, **_: Any) -> None:  # noqa: ANN401 - as a signal's receiver
        """One query."""
        row = cls(token=uuid.uuid4().hex)
        row.pk = 1
        rows = cls._default_manager
        rows.bulk_create([row], update_conflicts=True, unique_fields=["id"], update_fields=["token"])  # type: ignore[misc]
        forget(_EDITIONS)

    @classmethod
    def current(cls) -> str:
        """The token; "" before anything was loaded. One query for the editions of all rooms, once for each request."""
        return remember(_EDITIONS, _read_editions).get(cls._meta.db_table, "")

    @classmethod
    def labelled(cls) -> models.QuerySet[Any, Any]:
        """The name of the table and the token, as one row; none before anything was loaded."""
        table = models.Value(cls._meta.db_table, models.CharField())
        return cls._default_manager.filter(pk=1).values_list(table, "token")

    @classmethod
    def renew_with(cls, *rooms: type[models.Model]) -> None:
        """From now on a row of these models that is saved or deleted, alone or in bulk, renews the edition."""
        for model in rooms:
            for signal in (models.signals.post_save, models.signals.post_delete, rows_written):
                signal.connect(cls.renew, sender=model, dispatch_uid=f"{cls._meta.label} {model.__name__}")


_EDITIONS = "editions"


def _read_editions() -> dict[str, str]:
    """Table -> token, of every edition that has a row."""
    with connection.cursor() as cursor:
        cursor.execute(*_statement(connection.vendor))
        return dict(cursor.fetchall())


@cache
def _statement(_vendor: str) -> tuple[str, tuple[Any, ...]]:
    """The SQL of `_read_editions`, compiled once for a kind of database: that takes ten times as long as running it."""
    first, *others = (room.labelled() for room in EditionRow.__subclasses__())
    return first.union(*others, all=True).query.sql_with_params()
