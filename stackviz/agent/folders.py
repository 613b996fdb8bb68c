"""Where the agent keeps what must survive it. May import: the standard library."""

import os
import platform
from collections.abc import Mapping
from pathlib import Path

__all__ = ["state_folder"]


def state_folder(environ: Mapping[str, str] | None = None, system: str | None = None) -> Path:
    """ACCELWEB_SPOOL if set; else where this system keeps such things."""
    environ = os.environ if environ is None else environ
    if environ.get("ACCELWEB_SPOOL"):
        return Path(environ["ACCELWEB_SPOOL"]).expanduser()
    system = system or platform.system()
    if system == "Darwin":
        return Path.home() / "Library" / "Application Support" / "accelweb-agent"
    if system == "Windows" and environ.get("LOCALAPPDATA"):
        return Path(environ["LOCALAPPDATA"]) / "accelweb-agent"
    base = environ.get("XDG_STATE_HOME") or ""
    return (Path(base) if base.startswith("/") else Path.home() / ".local" / "state") / "accelweb-agent"
