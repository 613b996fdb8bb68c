"""Which files of ours a file imports, directly or not, read from the text without running it."""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.live import ROOT

OURS = ("accelweb", "stackviz", "tests")


def files_imported(roots: Iterable[Path]) -> set[Path]:
    """These files and all of ours that they import, inside functions too."""
    reached: set[Path] = set()
    waiting = list(roots)
    while waiting:
        file = waiting.pop()
        if file not in reached:
            reached.add(file)
            waiting += [path for name in _names_imported(file) if (path := _file_of(name))]
    return reached


def _names_imported(file: Path) -> Iterator[str]:
    """Dotted names of ours: modules, the packages they are in, and what is imported from them, module or not."""
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            parts = name.split(".")
            if parts[0] in OURS:
                yield from (".".join(parts[: end + 1]) for end in range(len(parts)))


def _file_of(name: str) -> Path | None:
    path = ROOT / name.replace(".", "/")
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()), None)
