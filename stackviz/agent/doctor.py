"""`doctor`: this machine asked, read and judged here, without a server and without the network. It changes nothing.

The commands that advice asks for are read by the importers that read what people paste; what no command prints is
asked by the probes.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any
from uuid import uuid4

from stackviz.agent import AGENT_NAME, __version__
from stackviz.agent.assemble import parse_mended
from stackviz.agent.diagnose import describe_answer
from stackviz.agent.doctor_questions import CommandRun
from stackviz.agent.privacy import Mask, mask_of_this_machine
from stackviz.agent.probing.gather import Gathered
from stackviz.base.backports import UTC
from stackviz.base.private import without_names
from stackviz.report.dumps import DumpedMachine, answer
from stackviz.report.dumps.markdown import to_markdown
from stackviz.report.dumps.masking import mask_text
from stackviz.report.dumps.merge import merged
from stackviz.report.format import FACTS, FORMAT, NOBODY
from stackviz.report.importers import FactSheet, Reading, read_all
from stackviz.report.rules import packaged_tables

__all__ = ["DOCTOR_FAILED", "describe_doctor", "describe_run", "diagnosed_here", "doctor_exit", "doctor_markdown"]

PROBES_KIND = "accelweb-agent"
DOCTOR_FAILED = 70  # an error of the doctor's own: 1 means warnings

Document = dict[str, Any]


def diagnosed_here(runs: Sequence[CommandRun], gathered: Gathered) -> Document:
    """The answer as `diagnose` gives it, and under `asked` how each command ended.

    All of it is one machine: nothing here can contradict that it is. What names it or its users is taken out before
    anything is read: the answer is made to be shown to others.
    """
    mask = mask_of_this_machine()
    readings = [reading for each in runs for reading in read_all(_as_pasted(each, mask)).readings]
    readings.append(_of_probes(gathered, mask))
    kinds = tuple(dict.fromkeys(reading.kind for reading in readings))
    document = answer([DumpedMachine(kinds, merged(readings))], packaged_tables())
    document["asked"] = [_outcome(each) for each in runs]
    return document


def _as_pasted(run: CommandRun, mask: Mask) -> str:
    plain = {name: stand_in.strip("<>") for name, stand_in in mask.names}  # a sign of a tag could end one in XML
    return f"$ {run.question.shown}\n{without_names(mask_text(run.text), plain)}" if run.text.strip() else ""


def _of_probes(gathered: Gathered, mask: Mask) -> Reading:
    """Return what the probes read, masked and checked as a report is."""
    document = {
        "format": FORMAT,
        "id": str(uuid4()),
        "created_at": datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        "agent": {"name": AGENT_NAME, "version": __version__},
        "machine": {"identity": NOBODY, "name": None},
        "facts": gathered.facts,
        "absent": gathered.absent,
        "cards": gathered.cards,
        "software": gathered.software,
        "results": [],
        "probes": gathered.probes,
    }
    report = parse_mended(mask.document(document))
    return Reading(
        kind=PROBES_KIND,
        sheet=FactSheet(FACTS, dict(report.facts), dict(report.absent)),
        cards=list(report.cards),
        software=list(report.software),
    )


def _outcome(run: CommandRun) -> Document:
    return {
        "command": run.question.shown,
        "tells": run.question.tells,
        "state": run.state,
        "exit_code": run.code,
        "duration_s": round(run.duration_s, 3),
        "is_cut": run.is_cut,
    }


def doctor_exit(document: Document) -> int:
    """0: nothing is wrong, 1: warnings, 2: something is broken."""
    severities = {finding["severity"] for finding in document["findings"]}
    return 2 if "broken" in severities else 1 if "warning" in severities else 0


# ---- for people -----------------------------------------------------------------------------------------------------


def describe_doctor(document: Document) -> str:
    """The diagnosis, then what was run for it."""
    lines = [f"  {_STATES[state]}: {commands}" for state, commands in _by_state(document)]
    return "\n".join([describe_answer(document), "", "What was run, without changing anything:", *lines])


def _by_state(document: Document) -> Iterator[tuple[str, str]]:
    for state in _STATES:
        outcomes = [outcome for outcome in document["asked"] if outcome["state"] == state]
        if outcomes:
            yield state, ", ".join(outcome["command"] for outcome in outcomes)


_STATES = {"ran": "ran", "failed": "ended with an error", "timeout": "did not end in time", "missing": "not found"}


def describe_run(run: CommandRun) -> str:
    """`nvidia-smi: not found (whether the NVIDIA driver answers)`, for the progress."""
    return describe_outcome(_outcome(run))


def describe_outcome(outcome: Document) -> str:
    ended = _WORDS[outcome["state"]](outcome)
    cut = ", printed too much: cut" if outcome["is_cut"] else ""
    return f"{outcome['command']}: {ended}{cut} ({outcome['tells']})"


_WORDS: dict[str, Callable[[Document], str]] = {
    "ran": lambda outcome: f"{outcome['duration_s']:.1f} s",
    "failed": lambda outcome: f"ended with {outcome['exit_code']}",
    "missing": lambda _outcome: "not found",
    "timeout": lambda outcome: f"did not end in {outcome['duration_s']:.0f} s",
}


def doctor_markdown(document: Document) -> str:
    """For an issue: the diagnosis, then what was run."""
    rows = [f"- {_STATES[state]}: {commands}" for state, commands in _by_state(document)]
    return to_markdown(document) + "\n".join(["", "What was run, without changing anything:", "", *rows, ""])
