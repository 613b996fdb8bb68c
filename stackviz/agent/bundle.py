"""The agent as one file, accelweb-agent.pyz, that any Python from 3.10 on runs, and as a wheel; the site serves both.

The same sources give the same bytes: names sorted, times fixed, nothing else in it. NVIDIA's binding of NVML is in it,
as this site has it installed (BSD, with its notice): without it links, processes and fabric of a card stay unknown.
The wheel holds all of it in one folder that only the agent puts on its path: it neither replaces nor hides a package of
the environment it is installed in, and depends on none.
"""

import base64
import hashlib
import io
import zipfile
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path

import stackviz
from stackviz.agent import AGENT_NAME, AGENT_PACKAGE, __version__

__all__ = ["WHEEL_NAME", "build_wheel", "build_zipapp"]

WHEEL_NAME = f"{AGENT_PACKAGE}-{__version__}-py3-none-any.whl"

_PACKAGES = ("agent", "base", "report")
_MODULES = ("__init__.py",)
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
# Of the wheel. Children of the agent find their modules beside stackviz, as they do in the single file.
_ON_PATH = f"{AGENT_PACKAGE}/on_path/"
_PACKAGE_START = b'''"""The accelweb agent: reads a machine's accelerator stack, measures it, sends the report."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "on_path"))

from stackviz.agent.cli import main

__all__ = ["main"]
'''
_PACKAGE_MAIN = f'''"""python -m {AGENT_PACKAGE}"""
import sys

from {AGENT_PACKAGE} import main

sys.exit(main())
'''.encode()
_METADATA = f"""\
Metadata-Version: 2.1
Name: {AGENT_NAME}
Version: {__version__}
Summary: Reads a machine's accelerator stack, measures it, and sends the report to an accelweb site
License: MIT, and BSD-3-Clause for pynvml.py
Requires-Python: >=3.10
""".encode()
_WHEEL = f"""\
Wheel-Version: 1.0
Generator: accelweb ({__version__})
Root-Is-Purelib: true
Tag: py3-none-any
""".encode()
_ENTRY_POINTS = f"""\
[console_scripts]
{AGENT_NAME} = {AGENT_PACKAGE}:main
""".encode()


def build_zipapp() -> bytes:
    """The bytes of the single-file agent. Reads the installed sources; takes some ten milliseconds."""
    stream = io.BytesIO(_SHEBANG)
    stream.seek(0, io.SEEK_END)
    with zipfile.ZipFile(stream, "a", zipfile.ZIP_DEFLATED) as archive:
        _add(archive, "__main__.py", _MAIN)
        for name, content in _modules():
            _add(archive, name, content)
    return stream.getvalue()


def build_wheel() -> bytes:
    """The bytes of the agent as a wheel, WHEEL_NAME, with the command accelweb-agent. Takes as long as the other."""
    about = f"{AGENT_PACKAGE}-{__version__}.dist-info/"
    files = {f"{AGENT_PACKAGE}/__init__.py": _PACKAGE_START, f"{AGENT_PACKAGE}/__main__.py": _PACKAGE_MAIN}
    files |= {_ON_PATH + name: content for name, content in _modules()}
    files |= {about + "METADATA": _METADATA, about + "WHEEL": _WHEEL, about + "entry_points.txt": _ENTRY_POINTS}
    record = about + "RECORD"
    lines = [f"{name},{_record_hash(content)},{len(content)}\n" for name, content in files.items()]
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in (*files.items(), (record, "".join([*lines, f"{record},,\n"]).encode())):
            _add(archive, name, content)
    return stream.getvalue()


def _record_hash(content: bytes) -> str:
    """As RECORD of a wheel has it."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest())
    return f"sha256={digest.decode().rstrip('=')}"


def _modules() -> Iterator[tuple[str, bytes]]:
    yield _BINDING, _binding()
    yield from _sources()


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
