"""The agent's command line: probe, bench, run, upload, diagnose. docs/agent.md is its manual."""

import argparse
import json
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from stackviz.agent import AGENT_NAME, __version__
from stackviz.agent.assemble import assemble_report
from stackviz.agent.benchmarks.cases import read_case
from stackviz.agent.benchmarks.run import BenchmarkOptions, not_run, run_benchmarks
from stackviz.agent.children import Ended
from stackviz.agent.diagnose import FileRefused, describe_answer, diagnosed, read_files
from stackviz.agent.exit_codes import Exit
from stackviz.agent.folders import state_folder
from stackviz.agent.llama_bench import attached_results, read_llama_file
from stackviz.agent.probing.gather import PROBE_TIMEOUT_S, Gathered, gather
from stackviz.agent.progress import Progress
from stackviz.agent.report_text import describe_report
from stackviz.agent.sending import send_waiting
from stackviz.agent.spool import Spool, SpoolError
from stackviz.agent.upload import Server, ServerError
from stackviz.importers import Reading
from stackviz.measuring import RUNNABLE
from stackviz.wire import LIMITS, Report, to_document

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command. -> its exit code, see exits.Exit."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal without UTF-8 must not cost a report
    parser = _parser()
    arguments = parser.parse_args(argv)
    try:
        return int(arguments.command(arguments, parser))
    except KeyboardInterrupt:
        print("\nInterrupted. Measurements so far are discarded.", file=sys.stderr)
        return Exit.INTERRUPTED
    except SpoolError as error:
        print(f"error: {error}", file=sys.stderr)
        return Exit.SPOOL
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # `| head`: nothing more to say to anybody
        return Exit.OK
    except Exception:  # noqa: BLE001 - the last line of defence says what to report
        traceback.print_exc()
        print(f"error: {Exit.UNEXPECTED.meaning}", file=sys.stderr)
        return Exit.UNEXPECTED


# ---- commands -------------------------------------------------------------------------------------------------------


def _probe(arguments: argparse.Namespace, _parser: argparse.ArgumentParser) -> Exit:
    with Progress(is_quiet=arguments.quiet) as progress:
        gathered = _gathered(arguments, progress)
    return _print_report(arguments, _assembled(arguments, gathered, []))


def _bench(arguments: argparse.Namespace, _parser: argparse.ArgumentParser) -> Exit:
    with Progress(is_quiet=arguments.quiet) as progress:
        gathered = _gathered(arguments, progress)
        results = _measured(arguments, gathered, progress)
    return _print_report(arguments, _assembled(arguments, gathered, results + _attached(arguments, gathered)))


def _run(arguments: argparse.Namespace, parser: argparse.ArgumentParser) -> Exit:
    server = None if arguments.dry_run else _server(arguments, parser)
    with Progress(is_quiet=arguments.quiet) as progress:
        gathered = _gathered(arguments, progress)
        results = [] if arguments.no_bench else _measured(arguments, gathered, progress)
    report = _assembled(arguments, gathered, results + _attached(arguments, gathered))
    if server is None:
        _print_document(report)
        return Exit.OK
    spool = _spool(arguments)
    path = spool.put(report)
    Progress(is_quiet=arguments.quiet).say(f"Report {report.id} is in the spool: {path}")
    return send_waiting(spool, server, arguments, mine=report)


def _upload(arguments: argparse.Namespace, parser: argparse.ArgumentParser) -> Exit:
    spool = _spool(arguments)
    if arguments.dry_run:
        for waiting in spool.waiting():
            _print_document(waiting.report)
        return Exit.OK
    return send_waiting(spool, _server(arguments, parser), arguments)


def _diagnose(arguments: argparse.Namespace, parser: argparse.ArgumentParser) -> Exit:
    try:
        document = diagnosed(read_files(arguments.files))
    except FileRefused as refused:
        parser.error(str(refused))
    print(json.dumps(document, indent=2, ensure_ascii=False) if arguments.json else describe_answer(document))
    return Exit.OK


def _gathered(arguments: argparse.Namespace, progress: Progress) -> Gathered:
    def say_outcome(name: str, ended: Ended) -> None:
        progress.say(f"probe {name}: {ended.detail or ended.state} ({ended.duration_s:.1f} s)")

    return gather(arguments.probe_timeout, say_outcome)


def _measured(arguments: argparse.Namespace, gathered: Gathered, progress: Progress) -> list[dict[str, object]]:
    options = BenchmarkOptions(
        quick=arguments.quick,
        devices=tuple(arguments.device),
        benchmarks=tuple(arguments.benchmark),
        wanted=tuple(arguments.case),
        budget_s=arguments.bench_time,
    )
    if "torch.version" not in gathered.facts:
        why = gathered.absent.get("torch.version", {"reason": "failed", "detail": "the torch probe returned nothing"})
        state = "skipped" if why["reason"] == "not_installed" else "failed"
        progress.say(f"no benchmark: {why['detail']}")
        return not_run(state, f"{why['reason']}: {why['detail']}", options)
    progress.say(f"measuring for at most {options.time_s:g} s")
    return run_benchmarks(
        options, gathered.cards, lambda step: progress.step(step.done, step.total, step.case, step.left_s)
    )


def _attached(arguments: argparse.Namespace, gathered: Gathered) -> list[dict[str, object]]:
    """What llama-bench measured, of the files that --llama-bench names."""
    return [result for readings in arguments.llama_bench for result in attached_results(readings, gathered.cards)]


def _assembled(arguments: argparse.Namespace, gathered: Gathered, results: list[dict[str, object]]) -> Report:
    return assemble_report(gathered, results[: LIMITS.results], _folder(arguments), arguments.name)


def _print_report(arguments: argparse.Namespace, report: Report) -> Exit:
    if arguments.json or arguments.dry_run:
        _print_document(report)
    else:
        print(describe_report(report))
    if arguments.keep and not arguments.dry_run:
        path = _spool(arguments).put(report)
        print(f"stored for `upload`: {path}", file=sys.stderr)
    return Exit.OK


def _print_document(report: Report) -> None:
    print(json.dumps(to_document(report), indent=2, ensure_ascii=False))


def _folder(arguments: argparse.Namespace) -> Path:
    return Path(arguments.spool).expanduser() if arguments.spool else state_folder()


def _spool(arguments: argparse.Namespace) -> Spool:
    return Spool(_folder(arguments))


def _server(arguments: argparse.Namespace, parser: argparse.ArgumentParser) -> Server:
    """Checked before anything is measured: a wrong address must not cost an hour of benchmarks."""
    url = arguments.server or os.environ.get("ACCELWEB_SERVER")
    key = arguments.key or os.environ.get("ACCELWEB_KEY")
    if arguments.key_file:
        try:
            key = Path(arguments.key_file).expanduser().read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            parser.error(f"--key-file: {error}")
    if not url:
        parser.error("--server (or ACCELWEB_SERVER) is missing")
    if not key:
        parser.error("--key, --key-file or ACCELWEB_KEY is missing")
    try:
        server = Server(url, key, timeout_s=min(30.0, max(1.0, arguments.timeout)))
    except ServerError as error:
        parser.error(str(error))
    if server.is_plain:
        print("warning: http:// sends the key unencrypted; use https:// if the site has it", file=sys.stderr)
    return server


# ---- arguments ------------------------------------------------------------------------------------------------------


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=AGENT_NAME,
        description="Read this machine's accelerator stack, measure it, and send the report to an accelweb site.",
        epilog="Exit codes: " + "; ".join(f"{exit_.value} {exit_.meaning}" for exit_ in Exit),
    )
    parser.add_argument("--version", action="version", version=f"{AGENT_NAME} {__version__}")
    commands = parser.add_subparsers(dest="command_name", required=True, metavar="probe|bench|run|upload|diagnose")
    probe = commands.add_parser("probe", help="read the machine and print the report; nothing is sent")
    bench = commands.add_parser("bench", help="read and measure, and print the results; nothing is sent")
    run = commands.add_parser("run", help="read, measure and send")
    upload = commands.add_parser("upload", help="send the reports waiting in the spool")
    diagnose = commands.add_parser("diagnose", help="diagnose what other tools printed; offline, nothing is sent")
    diagnose.set_defaults(command=_diagnose)
    diagnose.add_argument("files", nargs="+", metavar="FILE", help='what a tool printed; "-" for standard input')
    diagnose.add_argument(
        "--json", action="store_true", help="print the answer as JSON, in the format of the site's API"
    )
    for command, function in ((probe, _probe), (bench, _bench), (run, _run), (upload, _upload)):
        command.set_defaults(command=function)
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
    return parser


def _add_common(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--spool",
        metavar="FOLDER",
        help="spool folder for waiting reports (default: ACCELWEB_SPOOL, else the system's data folder)",
    )
    command.add_argument("--json", action="store_true", help="print only JSON on standard output")
    command.add_argument("--dry-run", action="store_true", help="print the exact report; store and send nothing")
    command.add_argument("-q", "--quiet", action="store_true", help="no progress on standard error")


def _add_probing(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--name", type=_label, help="a label for this machine on the site; the host name is never sent"
    )
    command.add_argument(
        "--probe-timeout", type=_seconds, default=PROBE_TIMEOUT_S, metavar="S", help="per probe (default: %(default)g)"
    )


def _add_measuring(command: argparse.ArgumentParser) -> None:
    command.add_argument("--quick", action="store_true", help="fewer cases and blocks: under a minute")
    command.add_argument(
        "--device", action="append", default=[], metavar="DEVICE", help="cuda, cuda:1, xpu, mps, cpu; can be repeated"
    )
    command.add_argument("--benchmark", action="append", default=[], choices=tuple(RUNNABLE), help="can be repeated")
    command.add_argument(
        "--case",
        action="append",
        type=_case,
        default=[],
        metavar="NAME=VALUE,...",
        help="only cases with these parameters, such as dtype=bf16,m=8192; can be repeated",
    )
    command.add_argument("--bench-time", type=_seconds, metavar="S", help="measure at most this long")
    command.add_argument(
        "--llama-bench",
        action="append",
        type=_llama_bench,
        default=[],
        metavar="FILE",
        help="add what llama-bench printed on this machine (-o json is best); can be repeated",
    )


def _add_sending(command: argparse.ArgumentParser) -> None:
    command.add_argument("--server", metavar="URL", help="the site (or ACCELWEB_SERVER)")
    command.add_argument("--key", help="the lab's key; better in ACCELWEB_KEY or --key-file: arguments show in `ps`")
    command.add_argument("--key-file", metavar="FILE", help="a file that contains the key")
    command.add_argument(
        "--timeout", type=_seconds, default=120.0, metavar="S", help="keep trying to deliver (default: %(default)g)"
    )
    command.add_argument("--yes", action="store_true", help="send without asking for confirmation")


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 < seconds <= 7 * 24 * 3600:
        raise argparse.ArgumentTypeError("must be above 0 and at most a week")
    return seconds


def _case(text: str) -> dict[str, str]:
    try:
        return read_case(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _llama_bench(name: str) -> list[Reading]:
    try:
        return read_llama_file(name)
    except FileRefused as refused:
        raise argparse.ArgumentTypeError(str(refused)) from refused


def _label(text: str) -> str:
    label = " ".join(text.split())
    if not label or len(label) > LIMITS.name_chars or not label.isprintable():
        raise argparse.ArgumentTypeError(f"must be 1 to {LIMITS.name_chars} printable characters")
    return label
