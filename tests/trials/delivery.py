"""Reports on their way into a site under trial, and whether each that was accepted was read exactly once."""

import time
from collections import Counter
from collections.abc import Sequence

from tests.intake.ingest.senders import Sender, box_of, counts
from tests.live import Site
from tests.trials.outcome import Outcome, spread

SENDERS = 8
MACHINES = 20
RESULTS_A_REPORT = 2
LONGEST_S = 600.0


def start_senders(site: Site, key: str, reports: int, seconds: float = 0.0) -> list[Sender]:
    """Agents that send so many reports, spread over about so many seconds."""
    box = box_of(reports, MACHINES)
    senders = [Sender(site, key, box, pause_s=SENDERS * seconds / reports) for _ in range(SENDERS)]
    for sender in senders:
        sender.start()
    return senders


def join(senders: Sequence[Sender]) -> None:
    until = time.monotonic() + LONGEST_S
    for sender in senders:
        sender.join(max(0.0, until - time.monotonic()))


def seconds_to_drain(site: Site, longest_s: float = LONGEST_S) -> float:
    """Until no report waits; infinite where one still does after so long."""
    started = time.monotonic()
    while time.monotonic() - started < longest_s:
        if not site.rows("SELECT 1 FROM labs_report WHERE status = 'received' LIMIT 1"):
            return time.monotonic() - started
        time.sleep(0.2)
    return float("inf")


def add_delivery(outcome: Outcome, site: Site, senders: Sequence[Sender], reports: int) -> None:
    """What senders were answered, what became of the reports, and what of it is wrong."""
    answers = Counter(answer for sender in senders for answer in sender.answers)
    accepted = answers[202] + answers[200]
    found = counts(site)
    # Of a report with two results: none at all of one that was not read, four of one that was read twice.
    other = site.rows(
        "SELECT COUNT(*) FROM (SELECT report_id FROM benchmarks_result GROUP BY report_id"
        f" HAVING COUNT(*) <> {RESULTS_A_REPORT}) AS other"
    )
    outcome.add("answers", ", ".join(f"{status or 'none'} x {count:,}" for status, count in sorted(answers.items())))
    outcome.add("from the first attempt to 202 or 200", spread([took for sender in senders for took in sender.took_s]))
    outcome.add(
        "accepted / read / failed",
        f"{accepted:,} / {found['status'].get('read', 0):,} / {found['status'].get('failed', 0):,}",
    )
    outcome.add("results", f"{found['results']:,} of {RESULTS_A_REPORT * reports:,}")
    outcome.expect(accepted == reports, f"{reports - accepted} reports were never accepted")
    outcome.expect(found["status"] == {"read": reports}, f"reports by status: {found['status']}")
    outcome.expect(found["snapshots"] == reports, f"{found['snapshots']} snapshots of {reports} reports")
    outcome.expect(found["machines"] == min(MACHINES, reports), f"{found['machines']} machines of {MACHINES}")
    outcome.expect(found["results"] == RESULTS_A_REPORT * reports, f"{found['results']} results of {reports} reports")
    outcome.expect(other == [(0,)], f"{other[0][0]} reports have another number of results than they state")
    site.manage("check_series")  # raises where a series keeps something else than its results come to
