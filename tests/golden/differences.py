"""Two recordings held against each other: pages as a unified diff, JSON by path, and the bytes of HTML."""

import difflib
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.golden.reworded import Rewording

MOST_LINES = 60  # of one page
GREW = 1.05


def print_differences(
    before: Path,
    after: Path,
    *,
    only: str = "",
    short: bool = False,
    rewordings: Sequence[Rewording] = (),
    spacing: bool = False,
) -> int:
    """Prints every difference but `rewordings`, which were meant, and, without `spacing`, white space.

    -> 0 when there is none, 1 otherwise.
    """
    names = sorted(name for name in {*recorded(before), *recorded(after)} if only in name)
    different = spaced = 0
    for name in names:
        comparison = Comparison(before / name, after / name, rewordings, spacing=spacing)
        spaced += comparison.is_spacing
        lines = list(comparison.lines())
        if not lines:
            continue
        different += 1
        print(f"=== {name}: {len(lines)} lines")
        for line in [] if short else lines[:MOST_LINES]:
            print(f"  {line}")
        if len(lines) > MOST_LINES and not short:
            print(f"  … {len(lines) - MOST_LINES} more")
    print(f"\n{different} of {len(names)} differ; {spaced} in white space alone")
    print_sizes(before, after)
    return 1 if different else 0


def recorded(folder: Path) -> Iterator[str]:
    for path in folder.rglob("*"):
        if path.is_file() and path.name != "sizes.json":
            yield str(path.relative_to(folder))


class Comparison:
    """One page, answer or file of two recordings, the old one with what was reworded on purpose put in."""

    def __init__(self, before: Path, after: Path, rewordings: Sequence[Rewording], *, spacing: bool) -> None:
        self.before, self.after, self.spacing = before, after, spacing
        self.old, self.new = (path.read_text(encoding="utf-8") if path.exists() else "" for path in (before, after))
        if rewordings and self.old != self.new:
            self.old = self.reworded(rewordings)

    def reworded(self, rewordings: Sequence[Rewording]) -> str:
        """The old text; a line that stands in the new one as it was stays, whatever was to become of it."""
        new = {self.key(line) for line in self.new.splitlines()}
        lines = [line if self.key(line) in new else apply(rewordings, line) for line in self.old.splitlines()]
        return "\n".join([*lines, ""] if self.old.endswith("\n") else lines)

    def key(self, line: str) -> str:
        """By which lines are held against each other."""
        return line if self.spacing else without_space(line)

    @property
    def is_spacing(self) -> bool:
        """Whether white space is all that differs."""
        both = self.before.exists() and self.after.exists()
        return both and self.old != self.new and without_space(self.old) == without_space(self.new)

    def lines(self) -> Iterator[str]:
        if not self.before.exists() or not self.after.exists():
            yield "only before" if self.before.exists() else "only after"
        elif self.old == self.new or (self.is_spacing and not self.spacing):
            return
        elif self.before.suffix == ".json" and is_json(self.old) and is_json(self.new):
            yield from by_path(json.loads(self.old), json.loads(self.new), "")
        else:
            yield from self.by_line()

    def by_line(self) -> Iterator[str]:
        """A unified diff. White space that does not count is that of the later page in lines that are alike."""
        new = self.new.splitlines()
        as_new = {self.key(line): line for line in new}
        old = [as_new.get(self.key(line), line) for line in self.old.splitlines()]
        yield from list(difflib.unified_diff(old, new, lineterm="", n=1))[2:]


def apply(rewordings: Sequence[Rewording], line: str) -> str:
    for each in rewordings:
        line = each.applied(line)
    return line


def without_space(text: str) -> str:
    return re.sub(r"\s", "", text)


def is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def by_path(old: Any, new: Any, path: str) -> Iterator[str]:
    """One line for each value that differs; keys in another order are a difference too."""
    if isinstance(old, dict) and isinstance(new, dict):
        yield from by_key(old, new, path)
    elif isinstance(old, list) and isinstance(new, list):
        yield from by_index(old, new, path)
    elif old != new or type(old) is not type(new):
        yield f"~ {path}: {shown(old)} -> {shown(new)}"


def by_key(old: dict[str, Any], new: dict[str, Any], path: str) -> Iterator[str]:
    for key in [*old, *(key for key in new if key not in old)]:
        if key not in new:
            yield f"- {path}.{key} = {shown(old[key])}"
        elif key not in old:
            yield f"+ {path}.{key} = {shown(new[key])}"
        else:
            yield from by_path(old[key], new[key], f"{path}.{key}")
    if old.keys() == new.keys() and list(old) != list(new):
        yield f"! {path}: keys in another order"


def by_index(old: list[Any], new: list[Any], path: str) -> Iterator[str]:
    for number, (before, after) in enumerate(zip(old, new, strict=False)):
        yield from by_path(before, after, f"{path}[{number}]")
    for sign, longer, shorter in (("-", old, new), ("+", new, old)):
        for number in range(len(shorter), len(longer)):
            yield f"{sign} {path}[{number}] = {shown(longer[number])}"


def shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)[:300]


def print_sizes(before: Path, after: Path) -> None:
    """Bytes of HTML as sent, together, and of each page that grew by more than a twentieth."""
    old, new = (json.loads((folder / "sizes.json").read_text()) for folder in (before, after))
    both = [name for name in old if name in new]
    total_old, total_new = sum(old[name] for name in both), sum(new[name] for name in both)
    print(f"HTML of {len(both)} pages: {total_old:,} -> {total_new:,} bytes ({total_new / total_old - 1:+.1%})")
    for name in both:
        if new[name] > GREW * old[name]:
            print(f"  grew: {name}: {old[name]:,} -> {new[name]:,}")
