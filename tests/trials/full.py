"""Disks that are filled while reports come in: `tests.intake.ingest.full_disk`, as a table."""

from tests.intake.ingest.full_disk import RUNS, is_right, run_on
from tests.trials.outcome import Outcome


def run(reports: int, fills: int) -> Outcome:
    outcome = Outcome(f"full disks, {reports:,} reports and {fills} fills each")
    for name in RUNS:
        found = run_on(name, reports, fills)
        answers = ", ".join(f"{status or 'none'} x {count:,}" for status, count in sorted(found["answers"].items()))
        read, failed = (found["status"].get(status, 0) for status in ("read", "failed"))
        outcome.add(
            f"{name}, {found['seconds full']} s full",
            f"{answers}; put off {found['put off at least once']:,}; read {read:,}, failed {failed:,}, results"
            f" {found['results']:,} of {2 * reports:,}; drained in {found['drained in s']} s",
        )
        outcome.expect(is_right(found, reports), f"{name}: not every report was read exactly once")
    return outcome
