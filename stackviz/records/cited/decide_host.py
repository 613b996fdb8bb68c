"""Public hosts become public and are withdrawn, each with its results, for curators and for who proposed them.

Decisions and loads of curated files wait for one another, so none of them acts on what another has changed meanwhile.
"""

from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from stackviz.records.cited.files import HEADER, LineError
from stackviz.records.cited.host_proposals import line_reader
from stackviz.records.cited.load import result_of, set_aside
from stackviz.records.cited.models import CitedResult, CitedSource, HostProposal
from stackviz.records.cited.write import create_results, update_results
from stackviz.records.curated.change import wait_for_other_loads
from stackviz.records.hosts.models import Host

WITHDRAWN_BY_PROPOSER = gettext_noop("Withdrawn by who published it.")
WITH_ITS_HOST = "withdrawn with its host"  # how the reason of such a result begins


class PublishRefused(Exception):
    """The host must not become public; the message says why."""


@transaction.atomic
def publish_host(host: Host, by: User, reason: str) -> bool:
    """Make the host public, with its results; False where it is not in the state in which `host` was read.

    Results that its proposer sent become rows, those that were withdrawn with it are again what they were before.
    Raises PublishRefused, and changes nothing.
    """
    now = _locked(host)
    if now.state != host.state or now.state == Host.State.PUBLIC:
        return False
    proposal = HostProposal.objects.filter(host=now).first()
    if proposal is not None and proposal.withdrawn_at:
        raise PublishRefused(_("%(host)s: who proposed it has withdrawn it, so it stays withdrawn.") % {"host": now})
    if _was_added_by(now, by):
        raise PublishRefused(_("%(host)s: you added it, so somebody else publishes it.") % {"host": now})
    _write_state(now, Host.State.PUBLIC, by, reason)
    _bring_results_back(now, by, reason)
    if proposal is not None:
        _add_proposed_results(now, proposal, by, reason)
    return True


@transaction.atomic
def withdraw_host(host: Host, by: User | None, reason: str) -> bool:
    """Take the host and its results out of every page and list; False where it was withdrawn before.

    `by`: None for a proposer, whom the history names only where they are logged in.
    """
    now = _locked(host)
    if now.state == Host.State.WITHDRAWN:
        return False
    _write_state(now, Host.State.WITHDRAWN, by, reason)
    results = list(now.results.exclude(state=CitedResult.State.WITHDRAWN))
    for row in results:
        row.state, row.reason = CitedResult.State.WITHDRAWN, f"{WITH_ITS_HOST}: {reason}"[:200]
    update_results(results, ["state", "reason"], by=by, reason=reason)
    return True


@transaction.atomic
def withdraw_proposed_host(proposal: HostProposal) -> None:
    """Withdraw the host for who proposed it: from then on no curator publishes it. Done twice it is done once."""
    withdraw_host(proposal.host, None, WITHDRAWN_BY_PROPOSER)
    HostProposal.objects.filter(pk=proposal.pk, withdrawn_at=None).update(withdrawn_at=timezone.now())


def _locked(host: Host) -> Host:
    wait_for_other_loads()
    return Host.objects.select_for_update().get(pk=host.pk)


def _was_added_by(host: Host, user: User) -> bool:
    """Return whether a second person has to look at it: two are needed here, and this one added it."""
    if settings.CURATION_APPROVALS == 1 or host.state != Host.State.PROPOSED:
        return False
    first = host.history.filter(history_type="+").order_by("history_date").first()
    return first is not None and first.history_user_id == user.pk


def _write_state(host: Host, state: Host.State, by: User | None, reason: str) -> None:
    host.state = state
    host.reason = reason[:200] if state == Host.State.WITHDRAWN else ""
    host.set_change_reason(reason)
    if by is not None:
        host._history_user = by  # type: ignore[attr-defined]  # noqa: SLF001 - simple_history reads it
    host.save()
    HostProposal.objects.filter(host=host, decided_at=None).update(decided_at=timezone.now())


def _bring_results_back(host: Host, by: User, reason: str) -> None:
    """Give results that were withdrawn with the host the state they had before. Two queries to read them."""
    withdrawn = host.results.filter(state=CitedResult.State.WITHDRAWN, reason__startswith=WITH_ITS_HOST)
    results = {row.pk: row for row in withdrawn}
    before = CitedResult.history.filter(id__in=withdrawn.values("pk")).exclude(state=CitedResult.State.WITHDRAWN)
    for record in before.order_by("history_date", "history_id"):  # the last of each is the one that counts
        row = results[record.id]
        is_without_sheet = record.state == CitedResult.State.PUBLIC and row.accelerator_id is None  # deleted meanwhile
        row.state = CitedResult.State.UNMATCHED if is_without_sheet else record.state
        row.reason = record.reason
    update_results(list(results.values()), ["state", "reason"], by=by, reason=reason)


def _add_proposed_results(host: Host, proposal: HostProposal, by: User, reason: str) -> None:
    """Make rows of the results that came with the proposal, unless they were made before."""
    if not proposal.results:
        return
    source, is_new = CitedSource.objects.get_or_create(
        key=f"host-proposal-{proposal.pk}",  # no slug: a deleted host's source keeps its address
        defaults={"title": host.title, "url": host.source_url, "kind": CitedSource.Kind.COMMUNITY},
    )
    if is_new:
        rows = [_proposed_result(cells, host, source) for cells in proposal.results]
        set_aside(rows)
        create_results(rows, by=by, reason=reason)


def _proposed_result(cells: dict[str, Any], host: Host, source: CitedSource) -> CitedResult:
    try:
        line = line_reader(cells["benchmark"], cells["accelerator"]).line([cells[name] for name in HEADER])
    except (LineError, KeyError) as error:
        problem = _("%(host)s was not published, because a result of it cannot be read: %(problem)s.")
        raise PublishRefused(problem % {"host": host, "problem": error}) from error
    sheet = host.cards.filter(accelerator__slug=line.accelerator, accelerator__is_public=True).first()
    row = result_of(line, sheet.accelerator_id if sheet else None, source.pk)
    row.host = host
    return row
