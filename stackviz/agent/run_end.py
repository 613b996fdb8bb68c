"""What a run says of itself at its end: slower than the last one, nothing measured, another name."""

import argparse
import sys
from collections.abc import Callable

from stackviz.agent.exit_codes import Exit
from stackviz.agent.measured import LastRun
from stackviz.agent.result_text import rate_changes, regressions
from stackviz.report.format import Report

__all__ = ["exit_of_run", "say_other_name"]


def exit_of_run(arguments: argparse.Namespace, report: Report, last: LastRun) -> Exit:
    """The exit code that the results deserve; why stands on standard error."""
    if report.results and all(result.state == "failed" for result in report.results):
        print("error: every benchmark failed; the results say why", file=sys.stderr)
        return Exit.NOTHING_MEASURED
    return _exit_of_comparison(report, last, arguments.fail_below) if arguments.fail_below else Exit.OK


def _exit_of_comparison(report: Report, last: LastRun, least: float) -> Exit:
    """A first run has nothing to compare with, and ends well; one that measured nothing does not."""
    if not any(result.state == "ok" for result in report.results):
        why = next((f" ({result.reason})" for result in report.results if result.reason), "")
        print(f"error: nothing was measured{why}, so --fail-below has nothing to compare", file=sys.stderr)
        return Exit.NOTHING_MEASURED
    changes = rate_changes(report, last)
    if not changes:
        why = "no earlier run measured these cases, or the results are noisy or were disturbed"
        print(f"note: --fail-below compared nothing: {why}", file=sys.stderr)
    slower = regressions(changes, least)
    for line in slower:
        print(line, file=sys.stderr)
    return Exit.REGRESSION if slower else Exit.OK


def say_other_name(name: str | None, last: LastRun, say: Callable[[str], None]) -> None:
    """A machine gets its name from its first report: another one is sent, and changes nothing."""
    if name and last.name and name != last.name:
        say(
            f"note: this machine was called {last.name} before; the site keeps the name of a machine's first report: "
            f"to call it {name}, rename it on its page"
        )
