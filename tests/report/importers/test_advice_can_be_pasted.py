"""Whatever any advice asks to look at can be pasted back: an importer reads it, and it states something.

All advice is walked (tests/advice_commands.py). A command that is neither in a fixture (OwnDump.commands), nor one that
changes something, nor one of the few that a person reads oneself, fails here.
"""

import re
from collections.abc import Iterator

import pytest

from stackviz.report.dumps import machines
from stackviz.report.importers import IMPORTERS, read_all
from tests.advice_commands import PLACEHOLDER, advised_commands
from tests.report.importers.own_dump import OwnDump, own_dumps

CHANGES = re.compile(
    r"(?:sudo )?(?:apt(?:-get|-mark)?|dnf|zypper|pacman|snap)\b"
    r"|(?:python3? -m )?pip3? (?:install|uninstall|config|cache)\b|uv (?:pip install|venv)\b|python3? -m venv\b"
    r"|conda (?:install|remove|create|update)\b|accelerate config"
    r"|sudo (?:dkms autoinstall|ldconfig|modprobe|rmmod|mokutil --import|nvidia-ctk|nvidia-modprobe|rm|tee|sysctl"
    r"|usermod|reboot|update-initramfs|update-grub|xcode-select|ubuntu-drivers)\b|mokutil --import"
    r"|(?:sudo )?systemctl (?:enable|disable|start|restart|daemon-reload)\b"
    r"|sudo nvidia-smi (?:-i(?: \S+)?)?(?:$|.*(?:--gpu-reset|-r\b|-e |-c |-pl |-pm ))|nvidia-smi -i X$|nvidia-smi .*-dm [01]$"
    r"|(?:export|unset|docker (?:run|compose|pull)|wsl --(?:export|set-version|shutdown|update|install|unregister))\b"
)
"""Commands that change something: their output is no question. `sudo modprobe` prints nothing, or why it could not."""

READ_BY_A_PERSON = {
    'python -c "import torch; print(torch.__file__)"': "a folder, to be compared with where pip installs",
    'python -c "import sys; print(sys.executable)"': "which Python runs",
    'python -c "import torch; torch.cuda.init()"': "prints nothing, or an error message, which is read",
    "python -c \"import torch; print(torch.ones(1, device='cuda') + 1)\"": "a tensor, or an error message, which is read",
    "CUDA_LAUNCH_BLOCKING=1 python your_program.py": "prints an error message, which is read",
    "df -h": "which disk is full",
    "sudo dmesg | grep -iE 'nvrm|xid'": "prints error messages, which are read",
    "nvidia-ctk cdi list": "names of devices, to be compared with the one that was asked for",
    "journalctl -u ollama --no-pager -n 200": "prints error messages, which are read",
    'python -c "import tensorflow as tf; print(tf.config.list_physical_devices())"': "whether a GPU is in the list",
    "python -c \"import tensorflow as tf; print(tf.config.list_physical_devices('GPU'))\"": "whether the list is empty",
}

WHOLE_OUTPUTS = {
    "accelerate env": "accelerate-env",
    "nvidia-smi": "nvidia-smi-table",
    "nvidia-smi -L": "nvidia-smi-list",
    "nvidia-smi topo -m": "nvidia-smi-topo",
    "lscpu": "lscpu",
    "nvidia-smi -q": "nvidia-smi-q",
    "nvidia-smi -q -x": "nvidia-smi-xml",
    "rocm-smi": "rocm-smi",
    "system_profiler -json SPHardwareDataType SPDisplaysDataType SPSoftwareDataType": "system-profiler-json",
    "python -m torch.utils.collect_env": "collect-env",
    "python -m xformers.info": "xformers-info",
    "rocminfo": "rocminfo",
    "system_profiler SPDisplaysDataType": "system-profiler-text",
    "system_profiler SPHardwareDataType": "system-profiler-text",
    "system_profiler SPHardwareDataType SPDisplaysDataType": "system-profiler-text",
    "system_profiler SPHardwareDataType SPDisplaysDataType SPSoftwareDataType": "system-profiler-text",
    "python -m pip list": "package-list",
    "sw_vers -productVersion": "sw-vers",
}
"""Commands whose fixture is another test's, by the kind it is of."""


def _commands() -> Iterator[str]:
    """Each of several in one line by itself; the code of `python -c` has semicolons of its own."""
    for advised in advised_commands():
        yield from re.split(r"; (?=[a-z])(?![^\"]*\"$|[^']*'$)", advised.text)


COMMANDS_OF_ADVICE = sorted({command for command in _commands() if command})
TO_BE_PASTED = [
    command for command in COMMANDS_OF_ADVICE if not CHANGES.match(command) and command not in READ_BY_A_PERSON
]
PRINTED_BY = {command: dump for dump in own_dumps() for command in dump.commands}


def _printed_by(command: str) -> OwnDump | None:
    command = command.replace("python3 -c", "python -c").replace("python3 -m", "python -m")
    quoted = re.sub(r"^(python -c) '(.*)'$", r'\1 "\2"', command)
    if kind := WHOLE_OUTPUTS.get(command):
        return next(dump for dump in own_dumps() if dump.kind == kind)
    return (
        PRINTED_BY.get(command)
        or PRINTED_BY.get(quoted)
        or PRINTED_BY.get(re.sub(rf" -i {PLACEHOLDER}\b", "", command))
    )


def test_all_advice_is_walked():
    assert len(COMMANDS_OF_ADVICE) > 100
    assert len(TO_BE_PASTED) > 50
    for command in ("sudo apt install", "unset LD_LIBRARY_PATH", "wsl --shutdown", "sudo nvidia-smi -pm 1"):
        assert CHANGES.match(command)
    for command in (
        "lsmod",
        "python -m pip list",
        "conda list",
        "docker info",
        "nvidia-smi -q",
        "ldconfig -p",
        "wsl --version",
    ):
        assert not CHANGES.match(command)


@pytest.mark.parametrize("command", TO_BE_PASTED)
def test_the_output_of_a_command_is_read_and_states_something(command):
    dump = _printed_by(command)
    assert dump is not None, f"no fixture has the output of: {command}"
    assert dump.kind in {importer.kind for importer in IMPORTERS}
    paste = read_all(f"$ {command}\n{dump.text}")
    assert dump.kind in paste.kinds
    (machine,) = machines(paste)
    reading = machine.reading
    assert reading.facts or reading.cards or reading.software or reading.problems or reading.absent


def test_importers_are_asked_for_by_advice_or_have_fixtures():
    printed = {*COMMANDS_OF_ADVICE, *PRINTED_BY, *(advised.text for advised in advised_commands())}
    for importer in IMPORTERS:
        assert set(importer.answers) <= printed, importer.kind
