"""The agent's command line: probe, bench, run, upload, diagnose, doctor. docs/agent.md is its manual."""

import argparse
import os
import platform
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from stackviz.agent.arguments import check_machine_id, make_parser
from stackviz.agent.assemble import report_document
from stackviz.agent.before import RunRefused, check_site, foreign_load, measuring_alone, say_other_load
from stackviz.agent.benchmarks.run import (
    BenchmarkOptions,
    MeasuringInterrupted,
    NoSuchDevice,
    not_run,
    run_benchmarks,
)
from stackviz.agent.children import Ended
from stackviz.agent.diagnose import FileRefused, attached_results, describe_answer, diagnosed, read_files
from stackviz.agent.doctor import (
    DOCTOR_FAILED,
    describe_doctor,
    describe_run,
    diagnosed_here,
    doctor_exit,
    doctor_markdown,
)
from stackviz.agent.doctor_questions import ask_all, questions_on
from stackviz.agent.exit_codes import Exit, signals_interrupt
from stackviz.agent.folders import state_folder
from stackviz.agent.journal import Journal, adopt_unfinished
from stackviz.agent.measured import LastRun
from stackviz.agent.probing.gather import Gathered, gather
from stackviz.agent.progress import Progress, terminal_json
from stackviz.agent.report_text import describe_plan, describe_report, exit_of_run, result_lines, say_other_name
from stackviz.agent.sending import agree_beforehand, send_waiting
from stackviz.agent.service_text import service_text
from stackviz.agent.spool import Spool, SpoolError
from stackviz.agent.stay import lower_priority, say_sign_of_life, stay, why_busy
from stackviz.agent.upload import Server, ServerError
from stackviz.report.format import Report, to_document
from stackviz.report.measuring.in_mlx import MLX

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command. -> its exit code, see exit_codes.Exit."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal without UTF-8 must not cost a report
    parser = make_parser(_COMMANDS)
    arguments = parser.parse_args(argv)
    arguments.typed = list(sys.argv[1:] if argv is None else argv)
    check_machine_id(parser, os.environ.get("ACCELWEB_MACHINE"))
    try:
        with signals_interrupt():
            return int(arguments.command(arguments, parser))
    except KeyboardInterrupt as interruption:
        with suppress(OSError):  # the terminal may be gone
            print(f"\nInterrupted. {interruption}".rstrip(), file=sys.stderr)
        return Exit.INTERRUPTED
    except SpoolError as error:
        print(f"error: {error}", file=sys.stderr)
        return Exit.SPOOL
    except RunRefused as refused:
        print(f"error: {refused}", file=sys.stderr)
        return refused.exit
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # `| head`: nothing more to say to anybody
        return Exit.OK
    except Exception:  # noqa: BLE001 - the last line of defence says what to report
        traceback.print_exc()
        print(f"error: {Exit.UNEXPECTED.meaning}", file=sys.stderr)
        return Exit.UNEXPECTED


# ---- commands -------------------------------------------------------------------------------------------------------


def _probe(arguments: argparse.Namespace, _parser: argparse.ArgumentParser) -> Exit:
    _check_spool(arguments)
    with Progress(is_quiet=arguments.quiet) as progress:
        gathered = _gathered(arguments, progress)
    return _print_report(arguments, Journal(_document(arguments, gathered), quick=False).report())


def _bench(arguments: argparse.Namespace, _parser: argparse.ArgumentParser) -> Exit:
    _check_spool(arguments)
    last = LastRun(_folder(arguments))
    with Progress(is_quiet=arguments.quiet) as progress:
        gathered = _gathered(arguments, progress)
        folder = _folder(arguments) if arguments.keep else None
        journal, is_whole = _measured(arguments, progress, gathered, _document(arguments, gathered), folder)
    report = journal.report()
    ended = Exit.worst(_print_report(arguments, report, last), exit_of_run(arguments, report, last))
    if not arguments.dry_run and (arguments.keep or arguments.fail_below):
        last.remember(report)
    journal.discard()
    return ended if is_whole else Exit.INTERRUPTED


def _run(arguments: argparse.Namespace, parser: argparse.ArgumentParser) -> Exit:
    if arguments.every is None:
        if arguments.once or arguments.print_service:
            parser.error("--once and --print-service need --every")
        return _turn(arguments, parser)
    if arguments.dry_run:
        parser.error("--every sends reports: leave out --dry-run")
    if arguments.attach:
        parser.error("--every would send what is attached with each report: send it once, without --every")
    if arguments.print_service:
        try:
            print(service_text(arguments.print_service, arguments))
        except ValueError as error:
            parser.error(str(error))
        return Exit.OK
    lower_priority()
    say = Progress(is_quiet=arguments.quiet).say
    return stay(lambda: _turn(arguments, parser), arguments.every, say, once=arguments.once)


def _turn(arguments: argparse.Namespace, parser: argparse.ArgumentParser) -> Exit:
    """Read, measure and send, once."""
    server = None if arguments.dry_run else _server(arguments, parser)
    spool, last = _spool(arguments), LastRun(_folder(arguments))
    arguments.no_bench = arguments.no_bench or arguments.dry_run
    progress = Progress(is_quiet=arguments.quiet)
    if server is not None:
        spool.check_ready()
        adopt_unfinished(spool, progress.say)
        check_site(server, progress.say)
    load = foreign_load() if arguments.every else None
    with progress:
        gathered = _gathered(arguments, progress)
        document = _document(arguments, gathered)
        say_other_name(arguments.name, last, progress.say)
        as_read = Journal(document, quick=False).report()
        if server is not None and not agree_beforehand(spool, server, arguments, as_read):
            print("Not agreed: nothing was measured, stored or sent.", file=sys.stderr)
            return Exit.NOT_CONFIRMED
        is_heard = True
        if server is not None and arguments.every:
            is_heard = _check_busy(arguments, spool, server, as_read, why_busy(gathered.cards, load), progress)
        journal, is_whole = _measured(arguments, progress, gathered, document, spool.folder if server else None)
    if server is None:
        progress.say("nothing was measured; without --dry-run results are added to this")
        _print_document(journal.report())
        return Exit.OK if is_whole else Exit.INTERRUPTED
    if journal.problem:
        progress.say(f"warning: the journal could not be written: {journal.problem}")
    report, path = journal.store(spool)
    if not is_whole:
        raise KeyboardInterrupt(f"What was measured is in the spool, run `upload` to send it: {path}")
    for line in result_lines(report, last):
        progress.say(line)
    judged = exit_of_run(arguments, report, last)
    last.remember(report)
    progress.say(f"Report {report.id} is in the spool: {path}")
    ended = Exit.worst(judged, _sent(spool, server, arguments, report))
    if not is_heard:
        say_sign_of_life(server, report.machine.identity, arguments.every, "", progress.say)
    return ended


def _check_busy(
    arguments: argparse.Namespace, spool: Spool, server: Server, as_read: Report, busy: str, progress: Progress
) -> bool:
    """Say that the agent is there, and whether it measures -> whether the site has noted it.

    Raises RunRefused where it should not measure now.
    """
    if not (arguments.yes or spool.is_confirmed(server.url)):
        text = "nobody has agreed to send reports to this site; run once without --every and agree, or pass --yes"
        raise RunRefused(Exit.NOT_CONFIRMED, text)
    is_measuring = not arguments.no_bench
    busy = busy if is_measuring else ""
    is_heard = say_sign_of_life(server, as_read.machine.identity, arguments.every, busy, progress.say)
    if busy:
        raise RunRefused(Exit.BUSY, f"skipped: {busy}. Nothing was measured")
    return is_heard


def _upload(arguments: argparse.Namespace, parser: argparse.ArgumentParser) -> Exit:
    spool = _spool(arguments)
    if arguments.dry_run:
        for waiting in spool.waiting():
            _print_document(waiting.report)
        return Exit.OK
    server = _server(arguments, parser)
    adopt_unfinished(spool, Progress(is_quiet=arguments.quiet).say)
    return _sent(spool, server, arguments)


def _sent(spool: Spool, server: Server, arguments: argparse.Namespace, mine: Report | None = None) -> Exit:
    try:
        return send_waiting(spool, server, arguments, mine=mine)
    except KeyboardInterrupt:
        text = f"Reports that were not delivered are in the spool, run `upload` to send them: {spool.folder}"
        raise KeyboardInterrupt(text) from None


def _diagnose(arguments: argparse.Namespace, parser: argparse.ArgumentParser) -> Exit:
    try:
        document = diagnosed(read_files(arguments.files))
    except FileRefused as refused:
        parser.error(str(refused))
    print(terminal_json(document) if arguments.json else describe_answer(document))
    return Exit.OK


def _doctor(arguments: argparse.Namespace, _parser: argparse.ArgumentParser) -> int:
    try:
        with Progress(is_quiet=arguments.quiet) as progress:
            questions = questions_on(platform.system())
            runs = ask_all(questions, lambda each: progress.say(describe_run(each)), arguments.timeout)
            document = diagnosed_here(runs, _gathered(arguments, progress))
    except Exception:  # noqa: BLE001 - 1 means warnings here
        traceback.print_exc()
        print(f"error: {Exit.UNEXPECTED.meaning}", file=sys.stderr)
        return DOCTOR_FAILED
    if arguments.json:
        print(terminal_json(document))
    else:
        print(doctor_markdown(document) if arguments.markdown else describe_doctor(document))
    return doctor_exit(document)


def _gathered(arguments: argparse.Namespace, progress: Progress) -> Gathered:
    def say_outcome(name: str, ended: Ended) -> None:
        progress.say(f"probe {name}: {ended.detail or ended.state} ({ended.duration_s:.1f} s)")

    return gather(arguments.probe_timeout, say_outcome)


def _measured(
    arguments: argparse.Namespace,
    progress: Progress,
    gathered: Gathered,
    document: dict[str, Any],
    folder: Path | None,
) -> tuple[Journal, bool]:
    """Measure. -> what it came to, and whether nobody interrupted it.

    `folder`: of the journal, where there is to be one. Raises KeyboardInterrupt where nothing was measured.
    """
    journal = _journal(document, arguments, folder)
    is_whole = True
    results: list[dict[str, Any]] = []
    if not getattr(arguments, "no_bench", False):
        try:
            results = _benchmarks(arguments, gathered, progress, journal)
        except RunRefused:
            journal.discard()
            raise
        except MeasuringInterrupted as interrupted:
            is_whole, results = False, interrupted.results
            if not journal.has_results:
                journal.discard()
                raise KeyboardInterrupt("Nothing was measured yet, nothing is stored.") from None
    journal.note_results(results + _attached(arguments, gathered))
    return journal, is_whole


def _journal(document: dict[str, Any], arguments: argparse.Namespace, folder: Path | None) -> Journal:
    try:
        return Journal(document, quick=getattr(arguments, "suite", "full") == "quick", folder=folder)
    except OSError as error:
        raise SpoolError(f"cannot write to {folder}: {error.strerror or error}") from None


def _benchmarks(
    arguments: argparse.Namespace, gathered: Gathered, progress: Progress, journal: Journal
) -> list[dict[str, Any]]:
    options = BenchmarkOptions(
        suite=arguments.suite,
        devices=tuple(arguments.device),
        benchmarks=tuple(dict.fromkeys(arguments.benchmark)),
        wanted=tuple(arguments.case),
        budget_s=arguments.bench_time,
    )
    if "torch.version" not in gathered.facts and set(options.devices) != {MLX}:
        why = gathered.absent.get("torch.version", {"reason": "failed", "detail": "the torch probe returned nothing"})
        state = "skipped" if why["reason"] == "not_installed" else "failed"
        progress.say(f"no benchmark: {why['detail']}")
        return not_run(state, f"{why['reason']}: {why['detail']}", options)
    with measuring_alone(arguments.wait, progress.say):
        say_other_load(progress.say)
        progress.say("estimating how long each case takes")
        try:
            return run_benchmarks(
                options,
                gathered.cards,
                lambda step: progress.step(step.done, step.total, step.case, step.left_s),
                journal.note,
                lambda plan: progress.say(describe_plan(plan, options)),
            )
        except NoSuchDevice as error:
            raise RunRefused(Exit.USAGE, f"{error}. Nothing was measured, stored or sent.") from None


def _attached(arguments: argparse.Namespace, gathered: Gathered) -> list[dict[str, Any]]:
    """What other tools measured, of the files that --attach names."""
    return [result for readings in arguments.attach for result in attached_results(readings, gathered.cards)]


def _document(arguments: argparse.Namespace, gathered: Gathered) -> dict[str, Any]:
    machine_id = arguments.machine_id or os.environ.get("ACCELWEB_MACHINE")
    document = report_document(gathered, _folder(arguments), arguments.name, machine_id=machine_id)
    if document["facts"]["machine.recognised_by"] == "boot":
        print(_UNKNOWN_TOMORROW, file=sys.stderr)
    return document


_UNKNOWN_TOMORROW = (
    "warning: nothing here tells this machine from others after a restart: mount the host's /etc/machine-id and name "
    "it with --machine-id, set ACCELWEB_MACHINE, or give the spool a folder that stays"
)


def _check_spool(arguments: argparse.Namespace) -> None:
    """Where the report is to be stored: before anything is measured for it."""
    if arguments.keep and not arguments.dry_run:
        _spool(arguments).check_ready()


def _print_report(arguments: argparse.Namespace, report: Report, last: LastRun | None = None) -> Exit:
    if arguments.json or arguments.dry_run:
        _print_document(report)
    else:
        print(describe_report(report, last))
    if arguments.keep and not arguments.dry_run:
        path = _spool(arguments).put(report)
        print(f"stored for `upload`: {path}", file=sys.stderr)
    return Exit.OK


def _print_document(report: Report) -> None:
    print(terminal_json(to_document(report)))


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


_COMMANDS = {
    "probe": _probe,
    "bench": _bench,
    "run": _run,
    "upload": _upload,
    "diagnose": _diagnose,
    "doctor": _doctor,
}
