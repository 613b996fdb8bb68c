"""Every command that advice prints, tried as far as it can be here."""

import ast
import re
import shlex
import shutil
import subprocess

import pytest
from packaging.requirements import Requirement
from pip._internal.commands import create_command

from stackviz.rules import packaged_tables
from stackviz.web.shells import powershell_of
from tests.advice_commands import advised_commands, filled, python_code, way_of_checking

COMMANDS = advised_commands()
MISUSED = re.compile(
    r"(?im)^usage:|unrecognized option|unrecognised option|invalid option|unknown option|no such option|unknown command"
    r"|syntax error|unexpected argument|is not a valid"
)
INDEX = "https://download.pytorch.org/whl/"


def those(*ways):
    chosen = [command for command in COMMANDS if way_of_checking(command.text) in ways]
    return pytest.mark.parametrize("command", chosen, ids=lambda command: command.text[:60])


def test_commands_come_from_every_place_that_prints_some():
    origins = {re.split(r"[ /]", command.origin)[0] for command in COMMANDS}
    assert {"rules", "message", "fact", "importers", "doctor"} <= origins
    assert len(COMMANDS) > 150


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.text[:60])
def test_a_shell_can_read_it(command):
    done = subprocess.run(
        ["bash", "-n", "-c", filled(command.text)], capture_output=True, text=True, check=False, timeout=20
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.text[:60])
def test_it_is_a_command_and_no_part_of_a_sentence(command):
    assert command.text == command.text.strip()
    assert command.text[-1] not in ".,;:("
    assert not re.search(r"[a-z]\. [A-Z]| (?:shows|says|names|lists|fails|prints|contains|the|which) ", command.text)
    assert command.text.count("(") == command.text.count(")")


@those("run")
def test_what_only_looks_runs_here_without_a_complaint_about_its_use(command):
    done = subprocess.run(
        ["bash", "-c", filled(command.text)], capture_output=True, text=True, check=False, timeout=60,
        stdin=subprocess.DEVNULL, errors="replace",
    )  # fmt: skip
    assert not MISUSED.search(done.stdout + done.stderr), done.stderr


def test_most_of_what_only_looks_is_not_merely_missing_here():
    """A machine without any of these tools would try nothing."""
    programs = {shlex.split(command.text)[0] for command in COMMANDS if way_of_checking(command.text) == "run"}
    assert {program for program in programs if shutil.which(program)} >= {"cat", "ls", "uname", "df", "ldd"}


@those("pip")
def test_pip_reads_its_options_and_requirements(command):
    for part in filled(command.text).split(" && "):
        words = shlex.split(part)
        words = words[words.index("pip") + 1 :] if "pip" in words else words[1:]
        options, arguments = create_command(words[0]).parse_args(words[1:])
        if words[0] in ("install", "uninstall"):
            for argument in arguments:
                Requirement(re.sub(r"(?<=[=>])X+(?=$|[.*])", "1", argument))
        if getattr(options, "index_url", "") and options.index_url.startswith("https://download"):
            assert is_known_index(options.index_url)


def is_known_index(address):
    variants = {row.variant for row in packaged_tables().rows("pytorch", "built-for", "compute-capability")}
    variants |= {row.variant for row in packaged_tables().rows("pytorch", "built-for", "gfx-target")}
    last = address.removeprefix(INDEX)
    return last in {*variants, "cpu", "xpu", "X"} or last.startswith("rocm1")


@those("python")
def test_a_program_compiles_and_its_quotes_suit_both_shells(command):
    compile(python_code(command.text), "advice", "exec")
    assert "$" not in command.text
    assert ast.parse(python_code(command.text)).body


WRITTEN = [(command.text, written) for command in COMMANDS if (written := powershell_of(filled(command.text)))]


@pytest.mark.parametrize(("bash", "written"), WRITTEN, ids=[bash[:60] for bash, _written in WRITTEN])
def test_a_form_for_powershell_has_nothing_of_bash(bash, written):
    """Signs only: no PowerShell reads it here."""
    unquoted = re.sub(r"\"[^\"]*\"|'[^']*'", "Q", written)
    assert not re.search(r"&&|\|\||\bexport\b|\bunset\b|\bsudo\b|(?:^|[;{] ?)[A-Z_]+=", unquoted), written
    assert not re.search(r"\$(?!env:|\?)", unquoted), written
    for opening, closing in ("()", "{}", "[]"):
        assert unquoted.count(opening) == unquoted.count(closing)
    assert '"' not in unquoted
    assert "'" not in unquoted


def test_some_commands_have_a_form_for_powershell():
    assert len(WRITTEN) >= 6
