"""`/admin/state/`: the state of the site in words, for staff."""

import platform
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import celery
import django
from django.conf import settings
from django.contrib import admin
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from stackviz.base.units import format_number
from stackviz.desk.freshness.freshness_page import waiting_changes, watched_feeds
from stackviz.pages.data import stored_dumps
from stackviz.site.monitoring.readiness import SEEN_WITHIN_S, Readiness, look_now

GIGA = 10**9
_started = datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class StateLine:
    """One line of the page. `is_bad`: it keeps the site from working; `moment`: since when, where that matters."""

    title: str
    text: str
    is_bad: bool = False
    moment: datetime | None = None


def site_state(request: HttpRequest) -> HttpResponse:
    """Admin only (accelweb/urls.py). The number of queries does not depend on what is stored."""
    state = look_now()
    context = {
        **admin.site.each_context(request),
        "title": _("State of the site"),
        "is_ready": state.is_ready,
        "lines": [*_process_lines(state), *_work_lines(state), *_other_lines()],
        "versions": list(_versions()),
    }
    return render(request, "monitoring/state.html", context)


def _process_lines(state: Readiness) -> Iterator[StateLine]:
    broken = {check.name: check.reason for check in state.checks if not check.holds}
    kind = connection.vendor.replace("postgresql", "PostgreSQL").replace("sqlite", "SQLite")
    yield StateLine(_("Database"), broken.get("database", kind), "database" in broken)
    broker = "Redis" if settings.REDIS_URL else _("files in VAR_DIR")
    yield StateLine(_("Broker"), broken.get("broker", broker), "broker" in broken)
    yield StateLine(_("This web process"), _("runs"), moment=_started)
    for name in SEEN_WITHIN_S:
        title = _("Worker") if name == "worker" else _("Beat")
        living = [each for each in state.processes if each.kind == name and each.silent_s < SEEN_WITHIN_S[name]]
        for each in living:
            text = _("runs on %(host)s, version %(version)s") % {"host": each.host, "version": each.version}
            yield StateLine(title, text, moment=datetime.fromtimestamp(each.since, UTC))
        if not living:
            yield StateLine(title, broken.get(name, ""), is_bad=True)


def _work_lines(state: Readiness) -> Iterator[StateLine]:
    broken = {check.name for check in state.checks if not check.holds}
    if state.waiting is not None:
        text = _("%(count)s wait to be read") % {"count": format_number(state.waiting)}
        yield StateLine(_("Reports"), text, "reports" in broken, state.oldest_at)
    free = _("%(size)s GB free under VAR_DIR") % {"size": format_number(state.disk_free_bytes / GIGA, 3)}
    yield StateLine(_("Disk"), free, "disk" in broken)


def _other_lines() -> Iterator[StateLine]:
    dump = stored_dumps.newest()
    text = _("newest export: %(name)s") % {"name": dump.name} if dump else _("no export was written yet")
    yield StateLine(_("Public data"), text, moment=dump.created_at if dump else None)
    if not settings.WATCH:
        yield StateLine(_("Watcher"), _("off (WATCH=0)"))
        return
    try:
        checked = [feed.check.checked_at for feed in watched_feeds() if feed.check is not None]
        text = _("%(count)s proposed changes wait") % {"count": format_number(waiting_changes())}
    except DatabaseError:
        return  # the first line says it
    yield StateLine(_("Watcher"), text, moment=max(checked, default=None))


def _versions() -> Iterator[tuple[str, str]]:
    yield "accelweb", settings.VERSION
    yield "Python", platform.python_version()
    yield "Django", django.get_version()
    yield "Celery", celery.__version__
    yield _("System"), f"{platform.system()} {platform.release()} ({sys.platform})"
