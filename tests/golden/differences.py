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
    before: Path, after: Path, *, only: str = "", short: bool = False, rewordings: Sequence[Rewording] = ()
) -> int:
    """Prints every difference but `rewordings`, which were meant. -> 0 when there is none, 1 otherwise."""
    names = sorted({*recorded(before), *recorded(after)})
    different = 0
    for name in names:
        if only not in name:
            continue
        lines = list(difference(before / name, after / name, rewordings))
        if not lines:
            continue
        different += 1
        print(f"=== {name}{' (spacing only)' if is_spacing(before / name, after / name) else ''}: {len(lines)} lines")
        for line in [] if short else lines[:MOST_LINES]:
            print(f"  {line}")
        if len(lines) > MOST_LINES and not short:
            print(f"  … {len(lines) - MOST_LINES} more")
    print(f"\n{different} of {len(names)} differ")
    print_sizes(before, after)
    return 1 if different else 0


def recorded(folder: Path) -> Iterator[str]:
    for path in folder.rglob("*"):
        if path.is_file() and path.name != "sizes.json":
            yield str(path.relative_to(folder))


def difference(before: Path, after: Path, rewordings: Sequence[Rewording] = ()) -> Iterator[str]:
    if not before.exists() or not after.exists():
        yield "only before" if before.exists() else "only after"
        return
    old, new = before.read_text(encoding="utf-8"), after.read_text(encoding="utf-8")
    if old == new:
        return
    for each in rewordings:
        old = each.applied(old)
    if old == new:
        return
    if before.suffix == ".json" and is_json(old) and is_json(new):
        yield from by_path(json.loads(old), json.loads(new), "")
    else:
        yield from list(difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=1))[2:]


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


def is_spacing(before: Path, after: Path) -> bool:
    if not before.exists() or not after.exists():
        return False
    old, new = (re.sub(r"\s", "", path.read_text(encoding="utf-8")) for path in (before, after))
    return old == new


def print_sizes(before: Path, after: Path) -> None:
    """Bytes of HTML as sent, together, and of each page that grew by more than a twentieth."""
    old, new = (json.loads((folder / "sizes.json").read_text()) for folder in (before, after))
    both = [name for name in old if name in new]
    total_old, total_new = sum(old[name] for name in both), sum(new[name] for name in both)
    print(f"HTML of {len(both)} pages: {total_old:,} -> {total_new:,} bytes ({total_new / total_old - 1:+.1%})")
    for name in both:
        if new[name] > GREW * old[name]:
            print(f"  grew: {name}: {old[name]:,} -> {new[name]:,}")
