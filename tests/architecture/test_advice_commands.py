"""Every command that advice prints, tried as far as it can be here."""

import ast
import re
import shlex
import shutil
import subprocess

import pytest
from packaging.requirements import Requirement
from pip._internal.commands import create_command

from stackviz.report.rules import packaged_tables
from stackviz.web.shells import powershell_of
from tests.advice_commands import advised_commands, filled, python_code, way_of_checking

COMMANDS = advised_commands()
MISUSED = re.compile(
    r"(?im)^usage:|unrecognized option|unrecognised option|invalid option|unknown option|no such option|unknown command"
    r"|syntax error|unexpected argument|is not a valid"
)
INDEX = "https://download.pytorch.org/whl/"


def texts(*ways):
    """Of all commands, or of those that are checked in one of these ways."""
    return [command.text for command in COMMANDS if not ways or way_of_checking(command.text) in ways]


def test_commands_come_from_every_place_that_prints_some():
    origins = {re.split(r"[ /]", command.origin)[0] for command in COMMANDS}
    assert {"rules", "message", "fact", "program", "doctor"} <= origins
    assert len(COMMANDS) > 150


def test_a_shell_can_read_it():
    asked = {
        text: subprocess.run(
            ["bash", "-n", "-c", filled(text)], capture_output=True, text=True, check=False, timeout=20
        )
        for text in texts()
    }
    assert {text: done.stderr for text, done in asked.items() if done.returncode or done.stderr} == {}


PROSE = re.compile(r"^\s|[.,;:(\s]$|[a-z]\. [A-Z]| (?:shows|says|names|lists|fails|prints|contains|the|which) ")


def test_it_is_a_command_and_no_part_of_a_sentence():
    assert [text for text in texts() if PROSE.search(text) or text.count("(") != text.count(")")] == []


@pytest.mark.slow
def test_read_only_commands_run_without_usage_errors():
    complaints = {}
    for text in texts("run"):
        done = subprocess.run(
            ["bash", "-c", filled(text)], capture_output=True, text=True, check=False, timeout=60,
            stdin=subprocess.DEVNULL, errors="replace",
        )  # fmt: skip
        if MISUSED.search(done.stdout + done.stderr):
            complaints[text] = done.stderr
    assert complaints == {}


def test_most_of_what_only_looks_is_not_merely_missing_here():
    """A machine without any of these tools would try nothing."""
    programs = {shlex.split(text)[0] for text in texts("run")}
    assert {program for program in programs if shutil.which(program)} >= {"cat", "ls", "uname", "df", "ldd"}


@pytest.mark.parametrize("text", texts("pip"), ids=lambda text: text[:60])
def test_pip_reads_its_options_and_requirements(text):
    for part in filled(text).split(" && "):
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


@pytest.mark.parametrize("text", texts("python"), ids=lambda text: text[:60])
def test_a_program_compiles_and_its_quotes_suit_both_shells(text):
    compile(python_code(text), "advice", "exec")
    assert "$" not in text
    assert ast.parse(python_code(text)).body


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
