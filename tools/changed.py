"""`make test-changed`: the fast tests that what changed since main concerns, chosen by imports and by names.

Of a module: the tests of its room, the test files that import it, and those that import a module which imports it.
Of a template, a style, a script or a file of data: the rooms that lie beside it or name it. Prints what it chose and
why. What uses a change from further away is left to `make test`.
"""

import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.imports import OURS, ROOT, imports_of

NO_TESTS_RAN = 5  # pytest's own: all that was chosen is slow
# With more than these through another module or a template, `make test` is as quick: they are left out, and it says so.
MANY_FILES, MANY_ROOMS = 60, 8
# What belongs to no room, by the beginning of its name.
ELSEWHERE = {
    "docs/": ("tests/architecture/test_docs.py",),
    "README.md": ("tests/architecture/test_docs.py",),
    "locale/": ("tests/web",),
    "templates/": ("tests/architecture/test_templates.py",),
    "static/": ("tests/web/test_static.py",),
    "deploy/": ("tests/deploy",),
    "accelweb/": ("tests/architecture/test_settings.py", "tests/web"),
    "tests/conftest.py": ("tests/web",),
}


def git(*arguments: str) -> str:
    done = subprocess.run(  # noqa: S603 - git, with our own arguments
        ["git", *arguments],  # noqa: S607 - the one on PATH
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout


def changed_files() -> list[str]:
    """What differs from where this branch left main, or from HEAD on main itself, and what git does not know yet."""
    base = git("merge-base", "HEAD", "main").strip() if git("branch", "--list", "main") else "HEAD"
    names = git("diff", "--name-only", base) + git("ls-files", "--others", "--exclude-standard")
    return sorted(set(names.splitlines()))


@cache
def importers() -> dict[str, set[str]]:
    """For each file of ours, which files import it themselves."""
    found: dict[str, set[str]] = defaultdict(set)
    for folder in OURS:
        for file in (ROOT / folder).rglob("*.py"):
            if "migrations" not in file.parts:
                for imported in imports_of(file):
                    found[str(imported.relative_to(ROOT))].add(str(file.relative_to(ROOT)))
    return found


def tests_among(files: set[str]) -> set[str]:
    return {file for file in files if file.startswith("tests/") and Path(file).name.startswith("test_")}


@cache
def texts() -> dict[str, str]:
    """Every template and module that may name a template, a style or a file."""
    found = (file for folder in ("templates", *OURS) for file in (ROOT / folder).rglob("*"))
    files = [file for file in found if file.suffix in {".html", ".jinja", ".py"}]
    return {str(file.relative_to(ROOT)): file.read_text(encoding="utf-8") for file in files}


def room_of(name: str) -> set[str]:
    """The folder of tests for what lies in a room, be it a module, a template or data."""
    top, *folders = name.split("/")[:-1] or [""]
    if top == "templates":
        rooms = [*ROOT.glob(f"tests/*/{folders[0]}"), *ROOT.glob(f"tests/{folders[0]}")] if folders else []
        return {str(room.relative_to(ROOT)) for room in rooms[:1]} or {"tests/pages/home"}
    is_room = top in {"stackviz", "tests"} and folders and folders[0] != "fixtures"
    names = ["/".join(["tests", *folders[:depth]]) for depth in (2, 1)] if is_room else []
    return set([room for room in names if (ROOT / room).is_dir()][:1])


def reasons(name: str) -> Iterator[tuple[str, set[str]]]:
    """Why tests are chosen for a file, and which: folders and files of tests/."""
    if tests_among({name}):
        yield "changed", {name} if (ROOT / name).exists() else set()
        return
    yield "of its room", room_of(name)
    yield "by its name", {test for start, tests in ELSEWHERE.items() if name.startswith(start) for test in tests}
    if name.endswith(".py"):
        direct = importers()[name]
        yield "import it", tests_among(direct)
        yield "import what imports it", {test for module in direct for test in tests_among(importers()[module])}
    else:
        inside = name.partition("/")[2]
        known_as = "/".join(inside.split("/")[:2]) if inside.startswith("fixtures/") else inside
        users = {file for file, text in texts().items() if known_as and known_as in text}
        yield "name it", {test for user in users for test in tests_among({user}) or room_of(user)}


def main(arguments: list[str]) -> int:
    chosen: set[str] = set()
    for name in changed_files():
        print(name)
        for why, tests in reasons(name):
            new = {test for test in tests - chosen if str(Path(test).parent) not in chosen}
            is_far = why in {"import what imports it", "name it"}
            if is_far and len(new) > (MANY_FILES if name.endswith(".py") else MANY_ROOMS):
                print(f"  {why}: {len(new)}, too many for this command: run `make test` as well")
            elif new:
                print(f"  {why}: {' '.join(sorted(new))}")
                chosen |= new
    if not chosen:
        print("Nothing that tests know of has changed.")
        return 0
    files = sorted(test for test in chosen if str(Path(test).parent) not in chosen)
    command = [sys.executable, "-m", "pytest", "-q", "-m", "not slow", *arguments, *files]
    sys.stdout.flush()
    status = subprocess.run(command, cwd=ROOT, check=False).returncode  # noqa: S603 - our own Python, our own files
    return 0 if status == NO_TESTS_RAN else status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
