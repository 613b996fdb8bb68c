"""What waits at the desk, for the admin's first page: a count with a link each, in a fixed number of queries.

Curated tables are counted whole; of tables that grow with reports only the newest rows are looked at.
"""

from collections.abc import Callable
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db.models import Count, Q
from django.db.models.functions import Coalesce
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from stackviz.desk.curation.completeness import OLD
from stackviz.desk.curation.models import ReaderCorrection
from stackviz.desk.freshness.models import ProposedChange
from stackviz.records.catalog.fields import HEADLINES
from stackviz.records.catalog.models import Accelerator, Proposal, SpecValue, ValueImport
from stackviz.records.labs.models import Card
from stackviz.records.series.models import Result
from stackviz.records.series.standing import Standing

MOST = 99  # more than that is said as "99+"
NEWEST = 5_000  # rows of tables that grow: what is odd among older ones was there yesterday, too
THIN = 10  # a public sheet with fewer public values
IMPORTS = 5


@dataclass(frozen=True, slots=True)
class DeskCount:
    """One line. `text`: the number, or `99+`; `hint`: what exactly is counted."""

    title: str
    hint: str
    text: str
    url: str
    is_waiting: bool


def desk_counts(user: User) -> list[DeskCount]:
    """What this person may see. One query each."""
    return [count() for permissions, count in _COUNTS if any(user.has_perm(name) for name in permissions)]


def last_imports(user: User) -> list[ValueImport]:
    """The last confirmed tables, for people who may propose. One query."""
    if not user.has_perm("catalog.propose"):
        return []
    rows = ValueImport.objects.filter(confirmed_at__isnull=False).select_related("uploaded_by")
    return list(rows.order_by("-confirmed_at")[:IMPORTS])


def _line(title: str, hint: str, number: int, url: str) -> DeskCount:
    return DeskCount(title, hint, f"{MOST}+" if number > MOST else str(number), url, number > 0)


def _proposals() -> DeskCount:
    number = Proposal.objects.filter(state=Proposal.State.REVIEW).order_by()[: MOST + 1].count()
    return _line(_("Proposals"), _("waiting for review"), number, reverse("admin:catalog_proposal_changelist"))


def _corrections() -> DeskCount:
    waiting = ReaderCorrection.objects.filter(state=ReaderCorrection.State.WAITING).order_by()
    url = f"{reverse('admin:curation_readercorrection_changelist')}?state__exact=waiting"
    return _line(_("Readers' corrections"), _("waiting for an answer"), waiting[: MOST + 1].count(), url)


def _watched() -> DeskCount:
    url = f"{reverse('admin:watch_proposedchange_changelist')}?state__exact=waiting"
    number = ProposedChange.objects.filter(state=ProposedChange.State.WAITING).order_by()[: MOST + 1].count()
    return _line(_("Changes elsewhere"), _("proposed by the watcher"), number, url)


def _names() -> DeskCount:
    newest = Card.objects.filter(accelerator__isnull=True).order_by("-pk").values("pk")[:NEWEST]
    names = Card.objects.filter(pk__in=newest).order_by().values("vendor", "reported_name").distinct()
    hint = _("reported by cards, without a spec sheet")
    return _line(_("Unmatched names"), hint, names[: MOST + 1].count(), reverse("admin:labs_card_names"))


def _stale() -> DeskCount:
    values = SpecValue.objects.filter(
        status=SpecValue.Status.PUBLIC,
        is_preferred=True,
        accelerator__is_public=True,
        field__in=[field.name for field in HEADLINES],
    )
    old = values.annotate(seen=Coalesce("checked_at", "changed_at")).filter(seen__lt=timezone.now() - OLD)
    url = f"{reverse('accelerators:completeness')}?state=old"
    return _line(
        _("Stale values"), _("main fields, not checked for two years"), old.order_by()[: MOST + 1].count(), url
    )


def _thin() -> DeskCount:
    public = Count("spec_values", filter=Q(spec_values__status=SpecValue.Status.PUBLIC))
    thin = Accelerator.objects.filter(is_public=True).annotate(public=public).filter(public__lt=THIN)
    url = f"{reverse('admin:catalog_accelerator_changelist')}?is_public__exact=1&o=5"
    hint = _("fewer than %(n)d public values") % {"n": THIN}
    return _line(_("Thin spec sheets"), hint, thin.order_by()[: MOST + 1].count(), url)


def _flagged() -> DeskCount:
    newest = Result.objects.order_by("-pk").values("pk")[:NEWEST]
    flagged = Result.objects.filter(pk__in=newest, standing=Standing.FLAGGED).order_by()
    url = f"{reverse('admin:benchmarks_result_changelist')}?standing__exact=flagged"
    return _line(_("Flagged results"), _("among the newest 5,000"), flagged[: MOST + 1].count(), url)


_COUNTS: tuple[tuple[tuple[str, ...], Callable[[], DeskCount]], ...] = (
    (("catalog.propose", "catalog.approve"), _proposals),
    (("catalog.propose", "catalog.approve"), _corrections),
    (("catalog.propose", "catalog.approve"), _watched),
    (("labs.view_card",), _names),
    (("catalog.view_specvalue",), _stale),
    (("catalog.view_accelerator",), _thin),
    (("benchmarks.view_result",), _flagged),
)
