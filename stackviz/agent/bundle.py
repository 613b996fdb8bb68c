"""The agent as one file, accelweb-agent.pyz, that any Python from 3.10 on runs; the site serves it.

The same sources give the same bytes: names sorted, times fixed, nothing else in it. NVIDIA's binding of NVML is in it,
as this site has it installed (BSD, with its notice): without it links, processes and fabric of a card stay unknown.
"""

import io
import zipfile
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path

import stackviz

__all__ = ["build_zipapp"]

_PACKAGES = ("agent", "dumps", "facts", "importers", "measuring", "rules", "stats", "symptoms", "wire")
_MODULES = ("__init__.py", "advice.py", "backports.py", "discovery.py", "light.py", "private.py", "units.py")
_BINDING = "pynvml.py"  # found before what the lab's Python has: children look into this file first
_SUFFIXES = {".py", ".csv"}  # sources, and the tables of the rules
_LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the earliest time a zip file can hold
_SHEBANG = b"#!/usr/bin/env python3\n"
_MAIN = b'''"""Starts the agent, or says which Python it needs."""
import os
import sys

if sys.version_info < (3, 10):
    there = [
        name
        for name in ("python3.14", "python3.13", "python3.12", "python3.11", "python3.10")
        if any(os.path.exists(os.path.join(folder, name)) for folder in os.environ.get("PATH", "").split(os.pathsep))
    ]
    newer = there[0] if there else "uv run --python 3.12"
    sys.exit(
        "accelweb-agent needs Python 3.10 or newer; this is %s. Run it with %s %s, best with the Python that has torch."
        % (sys.version.split()[0], newer, sys.argv[0])
    )

from stackviz.agent.cli import main

sys.exit(main())
'''


def build_zipapp() -> bytes:
    """The bytes of the single-file agent. Reads the installed sources; takes some ten milliseconds."""
    stream = io.BytesIO(_SHEBANG)
    stream.seek(0, io.SEEK_END)
    with zipfile.ZipFile(stream, "a", zipfile.ZIP_DEFLATED) as archive:
        _add(archive, "__main__.py", _MAIN)
        _add(archive, _BINDING, _binding())
        for name, content in _sources():
            _add(archive, name, content)
    return stream.getvalue()


def _binding() -> bytes:
    """The module of the package nvidia-ml-py, whatever else is installed under its name."""
    return Path(str(distribution("nvidia-ml-py").locate_file(_BINDING))).read_bytes()


def _sources() -> Iterator[tuple[str, bytes]]:
    root = Path(next(iter(stackviz.__path__)))
    paths = [root / name for name in _MODULES]
    for package in _PACKAGES:
        paths += [path for path in (root / package).rglob("*") if path.suffix in _SUFFIXES]
    for path in sorted(paths):
        if path.is_file():
            yield path.relative_to(root.parent).as_posix(), path.read_bytes()


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    info = zipfile.ZipInfo(name, _LONG_AGO)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = 0o644 << 16
    info.create_system = 3  # Unix, wherever it is built
    archive.writestr(info, content)
