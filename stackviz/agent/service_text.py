"""The commands by which an owner lets the system start the agent again and again: printed, never run.

systemd and launchd in the account of who installs it, which needs no root; on Windows a task of the account.
"""

import argparse
import plistlib
import shlex
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape

from stackviz.agent import AGENT_NAME, AGENT_PACKAGE
from stackviz.agent.folders import state_folder

__all__ = ["SYSTEMS", "service_text"]

SYSTEMS = ("systemd", "launchd", "windows")
_LABEL = f"org.accelweb.{AGENT_NAME}"
_OPTION = "--print-service"
# Outcomes that need nobody: too late for the site, slower than before, busy, nothing measured.
_NO_FAILURE = "3 9 10 11"


def service_text(system: str, arguments: argparse.Namespace) -> str:
    """Lines for a shell (PowerShell for Windows) that install it, then what removes it. Raises ValueError: what to fix.

    The command is the one that was typed, with `--once --yes`: printing it is agreeing to what it sends.
    """
    if arguments.key or not arguments.key_file:
        raise ValueError(
            f"{_OPTION} needs --key-file: a key in the text of a service can be read by others. Write the key into a "
            "file that only you can read, and name that"
        )
    if not arguments.server:
        raise ValueError(f"{_OPTION} needs --server: a service does not have the environment of this terminal")
    command = [*_program(), *_without_option(arguments.typed)]
    command += [option for option in ("--once", "--yes") if option not in command]
    if any("\n" in text for text in (*command, str(Path.cwd()))):
        raise ValueError(f"{_OPTION} cannot write an argument or a folder with a line break into a service")
    return _TEXTS[system](command, Path.cwd(), round(arguments.every))


def _program() -> list[str]:
    """How this very agent is started again."""
    started_as = Path(sys.argv[0])
    if started_as.is_file() and zipfile.is_zipfile(started_as):
        return [sys.executable, str(started_as.resolve())]
    return [sys.executable, "-m", AGENT_PACKAGE if AGENT_PACKAGE in sys.modules else "stackviz.agent"]


def _without_option(typed: Sequence[str]) -> list[str]:
    """The arguments as typed, without the option that asks for the text."""
    left, skips = [], False
    for argument in typed:
        name, has_value, _ = argument.partition("=")
        if skips:
            skips = False
        elif name.startswith("--pri") and _OPTION.startswith(name):  # argparse takes it abbreviated
            skips = not has_value
        else:
            left.append(argument)
    return left


def _systemd(command: Sequence[str], folder: Path, every_s: int) -> str:
    unit = f"""\
[Unit]
Description=accelweb agent: read and measure this machine, send the report

[Service]
Type=oneshot
WorkingDirectory={_systemd_path(folder)}
ExecStart={" ".join(_systemd_argument(each) for each in command)}
Nice=19
IOSchedulingClass=idle
SuccessExitStatus={_NO_FAILURE}
"""
    timer = f"""\
[Unit]
Description=accelweb agent: every {every_s // 60} minutes

[Timer]
OnStartupSec=10min
OnUnitActiveSec={every_s}s
RandomizedDelaySec={min(600, every_s // 20)}s

[Install]
WantedBy=timers.target
"""
    return f"""\
# Nothing was installed. Read these lines; they install the agent as a timer of your account:
mkdir -p ~/.config/systemd/user
cat > ~/.config/systemd/user/{AGENT_NAME}.service <<'END'
{unit}END
cat > ~/.config/systemd/user/{AGENT_NAME}.timer <<'END'
{timer}END
systemctl --user daemon-reload
systemctl --user enable --now {AGENT_NAME}.timer
loginctl enable-linger   # so that it also runs while you are not logged in

# What it did:    journalctl --user -u {AGENT_NAME}
# To remove it:   systemctl --user disable --now {AGENT_NAME}.timer; rm ~/.config/systemd/user/{AGENT_NAME}.*"""


def _systemd_argument(text: str) -> str:
    """systemd.service(5), COMMAND LINES: quotes as in C, and % and $ doubled."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return escaped if text and not set(text) & set(" \t'\";") else f'"{escaped}"'


def _systemd_path(folder: Path) -> str:
    return str(folder).replace("%", "%%")


def _launchd(command: Sequence[str], folder: Path, every_s: int) -> str:
    log = str(state_folder() / "service.log")
    properties = {
        "Label": _LABEL,
        "ProgramArguments": list(command),
        "WorkingDirectory": str(folder),
        "StartInterval": every_s,
        "RunAtLoad": True,
        "Nice": 19,
        "LowPriorityIO": True,
        "StandardOutPath": log,
        "StandardErrorPath": log,
    }
    plist = plistlib.dumps(properties, sort_keys=False).decode()
    file = f"~/Library/LaunchAgents/{_LABEL}.plist"
    return f"""\
# Nothing was installed. Read these lines; they install the agent for your account:
mkdir -p ~/Library/LaunchAgents
cat > {file} <<'END'
{plist}END
launchctl bootstrap gui/$(id -u) {file}

# What it did:    tail {shlex.quote(log)}
# To remove it:   launchctl bootout gui/$(id -u)/{_LABEL}; rm {file}"""


def _windows(command: Sequence[str], folder: Path, every_s: int) -> str:
    """PT0S is no limit; IgnoreNew leaves out a start while the agent is still at work; 9 is the idle class."""
    program, *arguments = command
    task = f"""\
<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>accelweb agent: read and measure this machine, send the report</Description>
  </RegistrationInfo>
  <Triggers>
    <TimeTrigger>
      <StartBoundary>2026-01-01T00:00:00</StartBoundary>
      <Repetition><Interval>PT{every_s}S</Interval></Repetition>
    </TimeTrigger>
  </Triggers>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>true</DisallowStartIfOnBatteries>
    <StartWhenAvailable>true</StartWhenAvailable>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <Priority>9</Priority>
  </Settings>
  <Actions>
    <Exec>
      <Command>{escape(program)}</Command>
      <Arguments>{escape(subprocess.list2cmdline(arguments))}</Arguments>
      <WorkingDirectory>{escape(str(folder))}</WorkingDirectory>
    </Exec>
  </Actions>
</Task>"""
    return f"""\
# Nothing was installed. Read these lines; in PowerShell they install the agent as a task of your account:
$task = @'
{task}
'@
Register-ScheduledTask -TaskName {AGENT_NAME} -Xml $task

# What it did:    Get-ScheduledTaskInfo {AGENT_NAME}
# To remove it:   Unregister-ScheduledTask {AGENT_NAME}"""


_TEXTS = {"systemd": _systemd, "launchd": _launchd, "windows": _windows}
