"""What a machine's clock was off by when it sent a report, and the times of the report by the site's clock."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from stackviz.records.series.standing import CLOCK_MAY_BE_AHEAD, is_ahead
from stackviz.report.format import Report

__all__ = ["ReportClock", "clock_warnings"]

_NO_TIME = timedelta(0)


@dataclass(frozen=True, slots=True)
class ReportClock:
    """Turns times of a report into those of the site. `ahead`: how far the machine's clock was ahead, below 0 behind; 0
    where it was right within CLOCK_MAY_BE_AHEAD, or the report does not state when it was sent.
    """

    created_at: datetime
    received_at: datetime
    ahead: timedelta

    @classmethod
    def of(cls, report: Report, received_at: datetime) -> "ReportClock":
        return cls(report.created_at, received_at, _ahead(report, received_at))

    @property
    def taken_at(self) -> datetime:
        """When the report was made, never after it arrived: it would be the newest one for ever."""
        return min(self._here(self.created_at), self.received_at)

    def measured_at(self, started_at: datetime | None) -> datetime:
        return self.taken_at if started_at is None else min(self._here(started_at), self.taken_at)

    def is_future(self, started_at: datetime | None) -> bool:
        """Whether the report, or a result in it, is from after its arrival, and no clock explains it."""
        times = (self.created_at, started_at)
        return any(time is not None and is_ahead(self._here(time), self.received_at) for time in times)

    def _here(self, time: datetime) -> datetime:
        try:
            return time - self.ahead
        except OverflowError:
            return self.received_at  # beyond the calendar


def _ahead(report: Report, received_at: datetime) -> timedelta:
    if report.sent_at is None:
        return _NO_TIME
    ahead = report.sent_at - received_at
    return ahead if abs(ahead) > CLOCK_MAY_BE_AHEAD else _NO_TIME


def clock_warnings(report: Report, received_at: datetime) -> list[dict[str, str]]:
    """What the receipt says of the clock: at most one warning."""
    ahead = _ahead(report, received_at)
    if ahead:
        code = "clock-was-ahead" if ahead > _NO_TIME else "clock-was-behind"
        return [{"code": code, "where": "sent_at", "detail": _text(abs(ahead))}]
    ahead = report.created_at - received_at
    if ahead <= CLOCK_MAY_BE_AHEAD:
        return []
    return [{"code": "clock-ahead", "where": "created_at", "detail": _text(ahead)}]


def _text(duration: timedelta) -> str:
    """`2 days, 3:00:01`, in whole seconds."""
    return str(duration - duration % timedelta(seconds=1))
