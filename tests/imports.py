"""Which files of ours a file imports, directly or not, read from the text without running it."""

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from tests.live import ROOT

OURS = ("accelweb", "bench", "stackviz", "tests", "tools")


def files_imported(roots: Iterable[Path]) -> set[Path]:
    """These files and all of ours that they import, inside functions too."""
    reached: set[Path] = set()
    waiting = list(roots)
    while waiting:
        file = waiting.pop()
        if file not in reached:
            reached.add(file)
            waiting += imports_of(file)
    return reached


def imports_of(file: Path) -> set[Path]:
    """What one file imports itself, the packages of it included."""
    nodes = list(ast.walk(ast.parse(file.read_bytes())))
    return {path for name in set(_names_imported(nodes)) if (path := _file_of(name))} | set(_files_discovered(nodes))


def _names_imported(nodes: list[ast.AST]) -> Iterator[str]:
    """Dotted names of ours: modules, the packages they are in, and what is imported from them, module or not."""
    for node in nodes:
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


def _files_discovered(nodes: list[ast.AST]) -> Iterator[Path]:
    """The modules of packages that a file hands to `discovery.modules_of`: a registry imports them by being asked."""
    imported = {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in nodes
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "modules_of":
            for argument in node.args:
                if isinstance(argument, ast.Name) and argument.id in imported:
                    yield from (ROOT / imported[argument.id].replace(".", "/")).glob("*.py")


@cache
def _file_of(name: str) -> Path | None:
    path = ROOT / name.replace(".", "/")
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()), None)
