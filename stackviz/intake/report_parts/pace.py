"""How much reading of texts a client may have done in a minute: counted by length before, by the work it took after."""

from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus

from django.http import HttpRequest
from django.utils.translation import gettext as _

from stackviz.intake.report_parts.pasted import MOST_SECONDS, Refused
from stackviz.report.importers.deadline import Deadline
from stackviz.web.at_once import COSTLY, Busy
from stackviz.web.rate_limit import DIAGNOSES, RateLimited, text_cost

FREE_S = 0.3  # of work that a request's texts pay for by their length; the page drawn from them is in it
_WORK_A_REQUEST_S = 0.05


@contextmanager
def paced(request: HttpRequest, text: str, *, paid: int = 0) -> Iterator[Deadline]:
    """Count reading this text as its length says, and afterwards as the work was more. Raises RateLimited, Busy.

    -> the deadline for all that is done with it. `paid`: what of it was counted already.
    """
    cost = text_cost(text)
    if cost > paid:
        DIAGNOSES.count(request, cost - paid)
    with COSTLY.slot():
        deadline = Deadline(MOST_SECONDS)
        try:
            yield deadline
        finally:
            if (more := work_cost(deadline.spent_s) - cost) > 0:
                DIAGNOSES.add(request, more)


def refused_for_now(limited: RateLimited) -> Refused:
    """The same as the problem that a form shows beside the text."""
    if isinstance(limited, Busy):
        problem = _("The site is busy with other texts. Try again in %(seconds)s seconds.")
    else:
        problem = _("Too many texts came from this address. Try again in %(seconds)s seconds.")
    return Refused(problem % {"seconds": limited.retry_after_s}, HTTPStatus.TOO_MANY_REQUESTS, None)


def work_cost(spent_s: float) -> int:
    """As how many requests so much work counts; 0 for what usual texts take."""
    return 0 if spent_s < FREE_S else round(spent_s / _WORK_A_REQUEST_S)
