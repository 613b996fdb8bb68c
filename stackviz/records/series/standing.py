"""Whether a result counts: what is odd about it, found when its report is read, and what a person decided. No queries.

A result that counts stands in charts, rankings and comparisons. One that does not is kept, has its page, and says why.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from django.db import models
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from stackviz.base.stats import Summary

CLOCK_MAY_BE_AHEAD = timedelta(minutes=5)


class Standing(models.TextChoices):
    """What a result counts as; none of these for a sound result. All but accepted ones are set aside."""

    FLAGGED = "flagged", _("flagged")
    ACCEPTED = "accepted", _("accepted")
    WITHDRAWN = "withdrawn", _("withdrawn")
    SUPERSEDED = "superseded", _("superseded")


class Flag(StrEnum):
    """Why a result is set aside until a person accepts it."""

    ABOVE_BOUND = "above-bound"
    NOT_POSITIVE = "not-positive"
    IMPOSSIBLE = "impossible"
    IDENTICAL_SAMPLES = "identical-samples"
    ONE_SAMPLE = "one-sample"
    FUTURE = "future"
    OTHER_UNIT = "other-unit"


FLAG_WORDS: dict[Flag, Promise] = {
    Flag.ABOVE_BOUND: _("above the published peak"),
    Flag.NOT_POSITIVE: _("zero or negative"),
    Flag.IMPOSSIBLE: _("no machine is that fast or that slow"),
    Flag.IDENTICAL_SAMPLES: _("all samples are identical"),
    Flag.ONE_SAMPLE: _("one sample"),
    Flag.FUTURE: _("from the future"),
    Flag.OTHER_UNIT: _("not in the unit of this benchmark"),
}


def counts(standing: str | None) -> bool:
    """Return whether a result is shown in charts. None: it was neither flagged nor reviewed."""
    return standing in (None, Standing.ACCEPTED)


def flag_words(flags: Sequence[str]) -> tuple[str, ...]:
    """The reasons in the reader's language; codes that a later version wrote are shown as they are."""
    return tuple(str(FLAG_WORDS[Flag(code)]) if code in FLAG_WORDS else code for code in flags)


def sample_flags(samples: Sequence[float], summary: Summary | None) -> Iterator[Flag]:
    """What the samples of a run that is ok say against it."""
    if summary is None:
        return
    least, most = min(samples), max(samples)
    if least <= 0:
        yield Flag.NOT_POSITIVE
    if len(samples) == 1:
        yield Flag.ONE_SAMPLE
    elif least == most:
        yield Flag.IDENTICAL_SAMPLES


def is_mean_of_runs(conditions: Mapping[str, Any]) -> bool:
    """Whether the one sample of a result is the mean of several runs, as tables print it: then it is not one run."""
    return conditions.get("mean_of_runs") is True


def is_ahead(stated: datetime | None, received_at: datetime) -> bool:
    """Whether a time lies so far after the arrival of its report that no clock's drift explains it."""
    return stated is not None and stated - received_at > CLOCK_MAY_BE_AHEAD
