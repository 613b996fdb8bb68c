"""What a comparison of the past says of what was withdrawn since: stacks, and figures that turned out to be wrong."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from stackviz.pages.compare.query import Subject, SubjectKind, unknown_subject
from stackviz.records.catalog.fields import FIELDS
from stackviz.records.catalog.figures import for_people
from stackviz.records.catalog.models import Accelerator
from stackviz.records.catalog.past import withdrawn_since
from stackviz.records.stacks.past import unpublished_since
from stackviz.web.address import Note

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
        yield Note("at", problem % words, _("it stands here as it was published then"))
    more = len(withdrawn) - MOST_NAMED
    if more > 0:
        problem = ngettext("%(n)d more figure was withdrawn since", "%(n)d more figures were withdrawn since", more)
        yield Note("at", problem % {"n": more}, _("all stand here as they were published then"))
