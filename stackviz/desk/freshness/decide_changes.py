"""A person applies or declines a proposed change; what is applied goes into the tables with its history."""

from django.contrib.auth.models import User
from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from stackviz.desk.freshness.feeds import feeds
from stackviz.desk.freshness.models import ProposedChange
from stackviz.records.audit.record import record
from stackviz.records.catalog.models import Source
from stackviz.records.cited.models import CitedSource
from stackviz.records.curated.rows import is_web_address
from stackviz.records.stacks.models import Component, Release

Kind, State = ProposedChange.Kind, ProposedChange.State


class CannotApply(Exception):
    """The table has changed so that this makes no sense any more; the text says how, for the person who decides."""


@transaction.atomic
def apply_change(change: ProposedChange, by: User, answer: str = "") -> None:
    """Write the change into its table. Raises CannotApply; then nothing is written."""
    change = _open(change)
    reason = _("proposed by the watcher, applied by hand: %(what)s") % {"what": change.get_kind_display()}
    try:
        if change.kind == Kind.RELEASE:
            _add_release(change, reason)
        elif change.kind in ProposedChange.OF_LINKS:
            _set_address(change)
        else:
            _set_date(change, reason)
    except ValidationError as error:
        raise CannotApply(_in_words(error)) from error
    _close(change, State.APPLIED, by, answer)


@transaction.atomic
def decline_change(change: ProposedChange, by: User, answer: str) -> None:
    """Leave the table as it is; the same difference is not proposed again. Raises CannotApply without an answer."""
    if not answer.strip():
        raise CannotApply(_("Say why it is declined."))
    _close(_open(change), State.DECLINED, by, answer)


def _open(change: ProposedChange) -> ProposedChange:
    """The row, locked where the database can: of two people who decide at once the second is told."""
    row = ProposedChange.objects.select_for_update().get(pk=change.pk)
    if row.state != State.WAITING:
        raise CannotApply(_("This has been decided already: %(state)s.") % {"state": row.get_state_display()})
    row.new_url = change.new_url
    return row


def _close(change: ProposedChange, state: ProposedChange.State, by: User, answer: str) -> None:
    change.state, change.answer, change.decided_by, change.decided_at = state, answer.strip(), by, timezone.now()
    change.save()
    record(f"watched-change.{state}", f"change {change.pk}: {change}", by, answer=change.answer)


def _in_words(error: ValidationError) -> str:
    """The messages of `full_clean`, each after the field it is about."""
    return "; ".join(
        " ".join(texts) if name == NON_FIELD_ERRORS else f"{name}: {' '.join(texts)}"
        for name, texts in error.message_dict.items()
    )


def _add_release(change: ProposedChange, reason: str) -> None:
    component = Component.objects.filter(slug=change.component).first()
    if component is None:
        raise CannotApply(_("There is no component %(component)s.") % {"component": change.component})
    named = {"component": component, "version": change.version, "variant": change.variant}
    if Release.objects.filter(**named).exists():
        raise CannotApply(_("The table has this release already. Decline the proposal with that reason."))
    release = Release(**named, released=change.released, support_ends=change.support_ends, source=_source(change.feed))
    release.set_change_reason(reason)
    release.full_clean()
    release.save()


def _set_date(change: ProposedChange, reason: str) -> None:
    release = Release.objects.filter(
        component__slug=change.component, version=change.version, variant=change.variant
    ).first()
    name = "released" if change.kind == Kind.RELEASED else "support_ends"
    if release is None or getattr(release, name) != change.before:
        raise CannotApply(_("The table has changed since this was proposed."))
    setattr(release, name, getattr(change, name))
    release.source = _source(change.feed)
    release.set_change_reason(reason)
    release.full_clean()
    release.save()


def _set_address(change: ProposedChange) -> None:
    """Sources have no history: the proposal itself is the record."""
    try:
        is_web_address(change.new_url)
    except ValidationError:
        raise CannotApply(_("Enter the new address, or decline with a reason.")) from None
    sources = [
        source
        for model in (Source, CitedSource)
        for source in model.objects.filter(url__startswith=change.url)
        if source.url.partition("#")[0] == change.url
    ]
    for source in sources:
        _page, mark, fragment = source.url.partition("#")
        source.url = f"{change.new_url}{mark}{fragment}"
        source.full_clean()
        source.save()
    if not sources:
        raise CannotApply(_("No source has this address any more."))


def _source(key: str) -> Source:
    """The source that names the feed, made when its first change is applied."""
    feed = next((feed for feed in feeds() if feed.key == key), None)
    if feed is None or not feed.source_url:
        raise CannotApply(_("This site does not watch the feed %(feed)s any more.") % {"feed": key})
    source, _is_new = Source.objects.get_or_create(
        key=f"watch-{feed.key}",
        defaults={"title": feed.title, "url": feed.source_url, "kind": feed.source_kind},
    )
    return source
