"""Reads a recipe of docs/recipes/ and applies it, to the letter, to a copy of the repository.

What is understood of the Markdown:

- a paragraph that ends with "New file `PATH`:" and a code block: the block becomes that file;
- one that ends with "end of ... `PATH`:" and a code block: the block is added at the end of that file, or at the end of
  the first section of it that the words name in quotes;
- one that ends with "after the lines that begin with `TEXT` in `PATH`:" and a code block: the block is put there;
- a block of `sh`: commands, run in the copy. `make docs` is run as the Makefile runs it, with this Python.
"""

import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.live import ROOT

RECIPES = ROOT / "docs" / "recipes"
_COPIED = ("accelweb", "bench", "docs", "locale", "stackviz", "static", "templates", "tests", "tools")
_FILES = ("CHANGELOG.md", "Makefile", "README.md", "manage.py", "pyproject.toml")
_BLOCK = re.compile(r"^(?P<indent> *)```(?P<language>\w+)\n(?P<code>.*?)^ *```$", re.DOTALL | re.MULTILINE)
_NEW = re.compile(r"\bNew\s+file\s+`(?P<path>[^`]+)`:\s*\Z")
_END = re.compile(r"end\s+of\s+(?:\"(?P<section>[^\"]+)\"\s+in\s+)?`(?P<path>[^`]+)`:\s*\Z")


_AFTER = re.compile(r"after\s+the\s+lines\s+that\s+begin\s+with\s+`(?P<text>[^`]+)`\s+in\s+`(?P<path>[^`]+)`:\s*\Z")


@dataclass(frozen=True)
class Block:
    """One code block and the text before it."""

    before: str
    language: str
    code: str


@dataclass
class Copy:
    """A copy of the repository and what a recipe did to it."""

    root: Path

    def apply(self, name: str) -> set[str]:
        """Write what the recipe says; -> the paths it names, each new or added to."""
        return {path for block in blocks_of(name) if (path := self._write(block))}

    def _write(self, block: Block) -> str:
        if new := _NEW.search(block.before):
            path = self.root / new["path"]
            assert not path.exists(), f"the recipe says that {new['path']} is new"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.code, encoding="utf-8")
            return new["path"]
        if end := _END.search(block.before):
            path = self.root / end["path"]
            text = path.read_text(encoding="utf-8")
            path.write_text(_added(text, block.code, end["section"]), encoding="utf-8")
            return end["path"]
        if after := _AFTER.search(block.before):
            path = self.root / after["path"]
            lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
            place = max(number for number, line in enumerate(lines, 1) if line.startswith(after["text"]))
            path.write_text("".join([*lines[:place], block.code, *lines[place:]]), encoding="utf-8")
            return after["path"]
        return ""

    def run(self, name: str) -> str:
        """Run the recipe's commands, one after another; -> what they printed. The first that fails fails the test."""
        commands = [line for block in blocks_of(name) if block.language == "sh" for line in block.code.splitlines()]
        assert commands, "the recipe has no command"
        return "".join(self.command(command) for command in commands)

    def command(self, command: str) -> str:
        assert command == "make docs" or command.startswith("python "), command
        return self._run(["tools/docs.py"] if command == "make docs" else shlex.split(command)[1:])

    def lint(self, paths: Iterable[str]) -> None:
        """What the recipe writes is as `make lint` wants it."""
        sources = sorted(path for path in paths if path.endswith(".py"))
        self._run(["-m", "ruff", "check", "--no-cache", *sources])
        self._run(["-m", "ruff", "format", "--no-cache", "--diff", *sources])

    def python(self, code: str) -> str:
        """What this code prints in the copy."""
        return self._run(["-c", code])

    def read(self, path: str) -> str:
        return (self.root / path).read_text(encoding="utf-8")

    def _run(self, words: list[str]) -> str:
        done = subprocess.run(
            [sys.executable, *words], cwd=self.root, text=True, capture_output=True, timeout=300, check=False
        )
        assert done.returncode == 0, f"{shlex.join(words)}\n{done.stdout[-6000:]}{done.stderr[-3000:]}"
        return done.stdout

    def changed(self) -> set[str]:
        """The files that are not as they are in the repository; what Python and pytest leave behind is left out."""
        return {
            path for path in _paths(self.root) | _paths(ROOT) if _content(self.root / path) != _content(ROOT / path)
        }


def copy_to(folder: Path) -> Copy:
    for name in _COPIED:
        shutil.copytree(ROOT / name, folder / name)  # with what Python compiled: the commands start sooner
    for name in _FILES:
        shutil.copy(ROOT / name, folder / name)
    return Copy(folder)


def blocks_of(name: str) -> Iterator[Block]:
    text = (RECIPES / f"{name}.md").read_text(encoding="utf-8")
    for match in _BLOCK.finditer(text):
        paragraph = text[: match.start()].rstrip().rpartition("\n\n")[2]
        yield Block(paragraph, match["language"], textwrap.dedent(match["code"]))


def _added(text: str, code: str, section: str | None) -> str:
    if section is None:
        return text.rstrip("\n") + "\n" + code
    heading = re.search(rf"^(#+) {re.escape(section)}\n", text, re.MULTILINE)
    assert heading, f"there is no section {section}"
    following = re.compile(rf"^#{{1,{len(heading[1])}}} ", re.MULTILINE).search(text, heading.end())
    end = following.start() if following else len(text)
    return text[:end].rstrip("\n") + "\n" + code + ("\n" + text[end:] if following else "")


def _paths(root: Path) -> set[str]:
    found = {path for name in _COPIED for path in (root / name).rglob("*") if path.is_file()}
    return {path.relative_to(root).as_posix() for path in found if "__pycache__" not in path.parts} | set(_FILES)


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None
