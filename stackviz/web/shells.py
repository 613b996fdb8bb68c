"""A command of bash as it is typed in PowerShell, for the few ways in which our advice differs. Pure."""

import re

__all__ = ["powershell_of"]

MOST_CHARS = 400  # longer commands are left as they are

_ONLY_UNIX = re.compile(
    r"(?<![\w-])(?:sudo|ls|cat|grep|dmesg|lsmod|lspci|modprobe|rmmod|ldconfig|systemctl|journalctl|dkms|mokutil|df|find"
    r"|ulimit|usermod|uname|which|apt|dnf|ldd|sw_vers|system_profiler|rocminfo|rocm-smi|sysctl|LD_LIBRARY_PATH"
    r"|LD_PRELOAD|HSA_OVERRIDE_GFX_VERSION|nvidia-modprobe|nvidia-ctk|wsl)(?![\w-])"
)
_ASSIGNED = re.compile(r"^((?:[A-Z][A-Z0-9_]{2,60}=[^\s;&|]{0,80} ){1,4})(?=\S)")
_ASSIGNMENT = re.compile(r"^(?:export )?([A-Z][A-Z0-9_]{2,60})=([^\s;&|]{0,80})$")
_UNSET = re.compile(r"^unset ((?:[A-Z][A-Z0-9_]{2,60} ?){1,4})$")
_VARIABLE = re.compile(r"\$([A-Z][A-Z0-9_]{2,60})\b")


def powershell_of(command: str) -> str:
    """The command for PowerShell; "" where it is the same there, or of no use on Windows."""
    if len(command) > MOST_CHARS or _ONLY_UNIX.search(command):
        return ""
    written = command
    if match := _UNSET.match(command):
        written = "; ".join(f"Remove-Item Env:{name}" for name in match[1].split())
    elif match := _ASSIGNMENT.match(command):
        written = _assigned(match[0].removeprefix("export "))
    elif match := _ASSIGNED.match(command):
        assigned = "; ".join(map(_assigned, match[1].split()))
        written = f"{assigned}; {command[match.end() :]}"
    written = _VARIABLE.sub(r"$env:\1", written)
    written = re.sub(r"\bpython3\b", "py", written)
    written = written.replace(". .venv/bin/activate", r".venv\Scripts\Activate.ps1")
    first, *then = written.split(" && ")
    for following in then:  # Windows PowerShell 5 has no `&&`
        first += f"; if ($?) {{ {following} }}"
    return "" if first == command else first


def _assigned(assignment: str) -> str:
    name, _equals, value = assignment.partition("=")
    return f'$env:{name} = "{value}"'
