"""Questions of `doctor`: the commands that advice asks for, in the order in which a person would; they change nothing:
anything. Each has a limit of time and of size; none gets input, a terminal, root, or the network.
"""

import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from stackviz.agent.children import end_group
from stackviz.agent.guard import marked, watch_group
from stackviz.agent.guard_process import MARK

__all__ = ["QUESTIONS", "CommandRun", "DoctorQuestion", "ask_all", "questions_on"]

MOST_BYTES = 1024 * 1024  # of what one command prints
TIMEOUT_S = 20.0
_AFTER_END_S = 2.0
_CHUNK = 64 * 1024
_LACKING = re.compile(r"No module named '?(?:torch|pip)'?\W{0,3}$")

_LINUX, _MAC, _WINDOWS = "Linux", "Darwin", "Windows"


@dataclass(frozen=True, slots=True)
class DoctorQuestion:
    """One command and what it tells. `systems`: where it is run; `timeout_s` for the few that take longer."""

    argv: tuple[str, ...]
    tells: str
    systems: tuple[str, ...] = (_LINUX, _MAC, _WINDOWS)
    timeout_s: float = TIMEOUT_S

    @property
    def shown(self) -> str:
        """As a person types it."""
        return " ".join(["python" if part == sys.executable else part for part in self.argv])


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandRun:
    """How a command ended. `state`: ran, failed (it ended with an error), missing, timeout. `text`: what it printed.

    `is_cut`: it printed more than MOST_BYTES.
    """

    question: DoctorQuestion
    state: str
    text: str = ""
    code: int | None = None
    duration_s: float = 0.0
    is_cut: bool = False


QUESTIONS: tuple[DoctorQuestion, ...] = (
    DoctorQuestion(("uname", "-a"), "the kernel, and whether this is WSL", (_LINUX, _MAC)),
    DoctorQuestion(("sw_vers",), "macOS", (_MAC,)),
    DoctorQuestion(
        ("system_profiler", "-json", "SPHardwareDataType", "SPDisplaysDataType", "SPSoftwareDataType"),
        "chip, memory and macOS", (_MAC,), 60.0,
    ),
    DoctorQuestion(("nvidia-smi",), "whether the NVIDIA driver answers", (_LINUX, _WINDOWS)),
    DoctorQuestion(("nvidia-smi", "-q", "-x"), "driver and cards, with limits, states and errors", (_LINUX, _WINDOWS)),
    DoctorQuestion(("cat", "/proc/driver/nvidia/version"), "the kernel module that is loaded", (_LINUX,)),
    DoctorQuestion(("lsmod",), "which drivers are loaded", (_LINUX,)),
    DoctorQuestion(("mokutil", "--sb-state"), "whether Secure Boot is on", (_LINUX,)),
    DoctorQuestion(("dkms", "status"), "whether the driver was built for this kernel", (_LINUX,)),
    DoctorQuestion(("rocminfo",), "AMD cards", (_LINUX,)),
    DoctorQuestion(("rocm-smi",), "AMD cards, their power and load", (_LINUX,)),
    DoctorQuestion(("nvcc", "--version"), "the CUDA toolkit", (_LINUX, _WINDOWS)),
    DoctorQuestion(("lscpu",), "the processor", (_LINUX,)),
    DoctorQuestion(
        (sys.executable, "-m", "torch.utils.collect_env"), "torch, and what it sees", (_LINUX, _MAC, _WINDOWS), 90.0
    ),
    DoctorQuestion((sys.executable, "-m", "pip", "list"), "packages that depend on torch", timeout_s=60.0),
)  # fmt: skip


def questions_on(system: str) -> tuple[DoctorQuestion, ...]:
    """Those for a system, as platform.system() names it."""
    return tuple(question for question in QUESTIONS if system in question.systems)


def ask_all(
    questions: Sequence[DoctorQuestion],
    report_end: Callable[[CommandRun], None] = lambda _run: None,
    longest_s: float | None = None,
) -> list[CommandRun]:
    """One after the other. `longest_s`: a lower limit of time for each of them."""

    def each() -> Iterator[CommandRun]:
        for question in questions:
            limit_s = question.timeout_s if longest_s is None else min(question.timeout_s, longest_s)
            answer = _ask(question, limit_s)
            report_end(answer)
            yield answer

    return list(each())


def _ask(question: DoctorQuestion, limit_s: float) -> CommandRun:
    program = shutil.which(question.argv[0])
    if program is None:
        return CommandRun(question=question, state="missing")
    started = time.monotonic()
    mark = marked()
    try:
        child = subprocess.Popen(  # noqa: S603 - a list of ours, no shell
            [program, *question.argv[1:]],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**_quiet_environment(), **mark},
            start_new_session=True,  # a group of its own, so that all of it can be ended
        )
    except OSError as error:
        return CommandRun(question=question, state="failed", text=f"{question.argv[0]}: {error.strerror}")
    watch_group(child)
    output = _Output(child)
    try:
        is_late = not output.wait(limit_s)
    finally:
        end_group(child, mark[MARK])
    output.close()
    text = output.text()
    if child.returncode and _LACKING.search(text):
        return CommandRun(
            question=question, state="missing"
        )  # no error of this machine's: nobody ran a program with it
    return CommandRun(
        question=question,
        state="timeout" if is_late else "ran" if child.returncode == 0 or output.is_cut else "failed",
        text=text,
        code=child.returncode,
        duration_s=time.monotonic() - started,
        is_cut=output.is_cut,
    )


def _quiet_environment() -> Mapping[str, str]:
    """Our own, in English, with nothing that asks, colours, or looks for updates."""
    return {
        **os.environ,
        "LC_ALL": "C",
        "LANG": "C",
        "NO_COLOR": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_NO_INPUT": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


class _Output:
    """What a command prints, read by a thread until it ends or MOST_BYTES are there: a full pipe would stop it."""

    def __init__(self, child: "subprocess.Popen[bytes]") -> None:
        self.is_cut = False
        self._child = child
        self._chunks: list[bytes] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        stream, left = self._child.stdout, MOST_BYTES
        with suppress(OSError, ValueError):
            while stream and (chunk := os.read(stream.fileno(), _CHUNK)):
                self._chunks.append(chunk[:left])
                left -= len(chunk)
                if left < 0:
                    self.is_cut = True
                    return

    def wait(self, limit_s: float) -> bool:
        """Whether it ended, or printed all that is read, in time."""
        until = time.monotonic() + limit_s
        self._reader.join(limit_s)
        if self._reader.is_alive():
            return False
        if not self.is_cut:
            with suppress(subprocess.TimeoutExpired):
                self._child.wait(max(0.1, until - time.monotonic()))
        return self.is_cut or self._child.returncode is not None

    def close(self) -> None:
        """After the command has ended: what it left behind may hold the pipe open, and is not waited for."""
        self._reader.join(_AFTER_END_S)
        if self._child.stdout and not self._reader.is_alive():
            self._child.stdout.close()

    def text(self) -> str:
        return b"".join(self._chunks).decode("utf-8", "replace").replace("\x00", "")
