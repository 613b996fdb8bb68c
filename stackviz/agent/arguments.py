"""The arguments of the agent's command line. docs/agent.md explains each."""

import argparse
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from stackviz.agent import AGENT_NAME, __version__
from stackviz.agent.benchmarks.cases import read_case
from stackviz.agent.benchmarks.timing import PACES
from stackviz.agent.diagnose import FileRefused, read_attached_file
from stackviz.agent.doctor import DOCTOR_FAILED
from stackviz.agent.exit_codes import Exit
from stackviz.agent.identity import EXPLICIT_CHARS
from stackviz.agent.probing.gather import PROBE_TIMEOUT_S
from stackviz.agent.service_text import SYSTEMS
from stackviz.report.format import LIMITS
from stackviz.report.importers import Reading
from stackviz.report.measuring import RUNNABLE
from stackviz.report.measuring.in_mlx import DEVICE_KINDS

__all__ = ["Command", "check_machine_id", "make_parser"]

Command = Callable[[argparse.Namespace, argparse.ArgumentParser], int]


def make_parser(functions: Mapping[str, Command]) -> argparse.ArgumentParser:
    """`functions`: what runs each command, by its name."""
    parser = argparse.ArgumentParser(
        prog=AGENT_NAME,
        description="Read this machine's accelerator stack, measure it, and send the report to an accelweb site.",
        epilog="\n".join(_epilog()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"{AGENT_NAME} {__version__}")
    commands = parser.add_subparsers(
        dest="command_name", required=True, metavar="probe|bench|run|upload|diagnose|doctor"
    )
    probe = commands.add_parser("probe", help="read the machine and print the report; nothing is sent")
    bench = commands.add_parser("bench", help="read and measure, and print the results; nothing is sent")
    run = commands.add_parser("run", help="read, measure and send")
    upload = commands.add_parser("upload", help="send the reports waiting in the spool")
    diagnose = commands.add_parser("diagnose", help="diagnose what other tools printed; offline, nothing is sent")
    diagnose.set_defaults(command=functions["diagnose"])
    diagnose.add_argument("files", nargs="+", metavar="FILE", help='what a tool printed; "-" for standard input')
    diagnose.add_argument(
        "--json", action="store_true", help="print the answer as JSON, in the format of the site's API"
    )
    doctor = commands.add_parser("doctor", help="ask, read and diagnose this machine; offline, changes nothing")
    doctor.set_defaults(command=functions["doctor"])
    _add_doctor(doctor)
    for name, command in (("probe", probe), ("bench", bench), ("run", run), ("upload", upload)):
        command.set_defaults(command=functions[name])
        _add_common(command)
    for command in (probe, bench, run):
        _add_probing(command)
    for command in (bench, run):
        _add_measuring(command)
    for command in (probe, bench):
        command.add_argument(
            "--keep", action="store_true", help="store the report in the spool, for `upload` to send later"
        )
    for command in (run, upload):
        _add_sending(command)
    run.add_argument("--no-bench", action="store_true", help="read the machine only")
    _add_staying(run)
    return parser


def _epilog() -> Iterator[str]:
    yield textwrap.fill(
        "Results of llama-bench, nccl-tests and nvbandwidth are added with --attach FILE (- for standard input): "
        "`bench --help` says how.",
        _HELP_COLUMNS,
    )
    yield "\nexit codes:"
    for exit_ in Exit:
        yield textwrap.fill(f"{exit_.value:>5} {exit_.meaning}", _HELP_COLUMNS, subsequent_indent=" " * 6)


_HELP_COLUMNS = 80


def _add_staying(run: argparse.ArgumentParser) -> None:
    staying = run.add_argument_group("staying on a machine")
    staying.add_argument(
        "--every",
        type=_interval,
        metavar="INTERVAL",
        help="stay and do it again and again, such as 6h, 90m or 1d, at low priority and not while the machine is busy",
    )
    staying.add_argument(
        "--once", action="store_true", help="with --every: one turn, for a timer of the system that starts the agent"
    )
    staying.add_argument(
        "--print-service",
        choices=SYSTEMS,
        metavar="|".join(SYSTEMS),
        help="with --every: print the commands that let this system start the agent; nothing is installed",
    )


def _add_doctor(doctor: argparse.ArgumentParser) -> None:
    doctor.epilog = f"Exit codes: 0 nothing is wrong; 1 warnings; 2 something is broken; {DOCTOR_FAILED} doctor failed"
    form = doctor.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print the answer as JSON, in the format of the site's API")
    form.add_argument("--markdown", action="store_true", help="print the answer as Markdown, for an issue")
    doctor.add_argument("--timeout", type=_seconds, metavar="S", help="at most this long for each command")
    doctor.add_argument(
        "--probe-timeout", type=_seconds, default=PROBE_TIMEOUT_S, metavar="S", help="per probe (default: %(default)g)"
    )
    doctor.add_argument("-q", "--quiet", action="store_true", help="no progress on standard error")


def _add_common(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--spool",
        metavar="FOLDER",
        help="spool folder for waiting reports (default: ACCELWEB_SPOOL, else the system's data folder)",
    )
    command.add_argument("--json", action="store_true", help="print only JSON on standard output")
    command.add_argument(
        "--dry-run",
        action="store_true",
        help="print the exact report; store and send nothing. Of `run` without results: it does not measure",
    )
    command.add_argument("-q", "--quiet", action="store_true", help="no progress on standard error")


def _add_probing(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--name", type=_label, help="a label for this machine on the site; the host name is never sent"
    )
    command.add_argument(
        "--machine-id",
        type=_machine_id,
        metavar="FILE",
        help="a file with an id of this machine (or ACCELWEB_MACHINE, the id itself), sent as a hash: in a container "
        "the host's /etc/machine-id makes it the same machine as outside",
    )
    command.add_argument(
        "--probe-timeout", type=_seconds, default=PROBE_TIMEOUT_S, metavar="S", help="per probe (default: %(default)g)"
    )


def _add_measuring(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--suite",
        choices=tuple(PACES),
        default="full",
        help="quick: under a minute; standard: at most ten; full: twenty",
    )
    command.add_argument("--quick", action="store_const", dest="suite", const="quick", help="the same as --suite quick")
    command.add_argument(
        "--device",
        action="append",
        type=_device,
        default=[],
        metavar="DEVICE",
        help="cuda, cuda:1, xpu, mps, mlx, cpu; can be repeated",
    )
    command.add_argument(
        "--benchmark", "--only", action="append", default=[], choices=tuple(RUNNABLE), help="can be repeated"
    )
    command.add_argument(
        "--case",
        action="append",
        type=_case,
        default=[],
        metavar="NAME=VALUE,...",
        help="only cases with these parameters, such as dtype=bf16,m=8192; can be repeated",
    )
    command.add_argument(
        "--fail-below",
        type=_share,
        metavar="SHARE",
        help=f"end with code {Exit.REGRESSION.value} if a rate is below this share of the last run's, such as 0.95, "
        f"with {Exit.NOTHING_MEASURED.value} if nothing is measured",
    )
    command.add_argument("--bench-time", "--time-budget", type=_seconds, metavar="S", help="measure at most this long")
    command.add_argument(
        "--wait",
        type=_seconds,
        default=0.0,
        metavar="S",
        help="wait for another agent that is measuring on this machine, instead of ending with code 10",
    )
    command.add_argument(
        "--attach",
        "--llama-bench",  # its name when it read no other tool
        action="append",
        type=_attached,
        default=[],
        metavar="FILE",
        help="add what llama-bench (-o json is best), nccl-tests (with its command line) or nvbandwidth printed on "
        'this machine; nothing of it is run; "-" for standard input; can be repeated',
    )


def _add_sending(command: argparse.ArgumentParser) -> None:
    command.add_argument("--server", metavar="URL", help="the site (or ACCELWEB_SERVER)")
    command.add_argument("--key", help="the lab's key; better in ACCELWEB_KEY or --key-file: arguments show in `ps`")
    command.add_argument("--key-file", metavar="FILE", help="a file that contains the key")
    command.add_argument(
        "--timeout", type=_seconds, default=120.0, metavar="S", help="keep trying to deliver (default: %(default)g)"
    )
    command.add_argument("--yes", action="store_true", help="send without asking for confirmation")


def _machine_id(name: str) -> str:
    try:
        with Path(name).expanduser().open(encoding="utf-8") as file:
            identifier = " ".join(file.read(4 * LIMITS.name_chars).split())
    except (OSError, UnicodeDecodeError) as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    if len(identifier) not in EXPLICIT_CHARS:
        raise argparse.ArgumentTypeError(f"{name}: {_WRONG_LENGTH}")
    return identifier


_WRONG_LENGTH = f"the id of a machine has {EXPLICIT_CHARS[0]} to {EXPLICIT_CHARS[-1]} characters"


def check_machine_id(parser: argparse.ArgumentParser, identifier: str | None) -> None:
    """Ends the program where the environment has an id of a machine that is none."""
    if identifier and len(identifier) not in EXPLICIT_CHARS:
        parser.error(f"ACCELWEB_MACHINE: {_WRONG_LENGTH}")


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds") from None
    if not 0 < seconds <= 7 * 24 * 3600:
        raise argparse.ArgumentTypeError("must be above 0 and at most a week")
    return seconds


def _interval(text: str) -> float:
    match = re.fullmatch(r"(\d{1,6})\s*([mhd])", text.strip().lower())
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no interval: write 90m, 6h or 1d")
    seconds = float(match[1]) * _UNITS_S[match[2]]
    if not SHORTEST_EVERY_S <= seconds <= LONGEST_EVERY_S:
        raise argparse.ArgumentTypeError("must be 10m at least and 30d at most")
    return seconds


_UNITS_S = {"m": 60, "h": 3600, "d": 24 * 3600}
SHORTEST_EVERY_S, LONGEST_EVERY_S = 600, 30 * 24 * 3600  # as the site takes them, see docs/ingest.md


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number") from None
    if not 0 < share <= 1:
        raise argparse.ArgumentTypeError("must be above 0 and at most 1")
    return share


def _device(text: str) -> str:
    if not _DEVICE.fullmatch(text):
        raise argparse.ArgumentTypeError(
            f"{text!r} is no device: choose {', '.join(DEVICE_KINDS)}, or one card: cuda:1"
        )
    return text


_DEVICE = re.compile(rf"(?:{'|'.join(DEVICE_KINDS)})|(?:cuda|xpu):\d{{1,3}}")


def _case(text: str) -> dict[str, str]:
    try:
        return read_case(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _attached(name: str) -> list[Reading]:
    try:
        return read_attached_file(name)
    except FileRefused as refused:
        raise argparse.ArgumentTypeError(str(refused)) from refused


def _label(text: str) -> str:
    label = " ".join(text.split())
    if not label or len(label) > LIMITS.name_chars or not label.isprintable():
        raise argparse.ArgumentTypeError(f"must be 1 to {LIMITS.name_chars} printable characters")
    return label
