"""Figures of the code: `python tools/house.py [--tree FOLDER] [--since REVISION] [--all]` (`make house`).

Each is one that a reader feels: long lines and functions, large rooms, one name for two things, calls whose arguments
cannot be told apart, code that stands twice. `--tree` measures another checkout; `--all` lists everything found.
"""

import argparse
import ast
import io
import re
import subprocess
import sys
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("accelweb", "stackviz")
LINE_LIMIT = 120
FILE_LIMIT = 300
ROOM_LIMIT = 0.10  # of the code
ARGUMENT_LIMIT = 5
SUBJECT_LIMIT = 72
PYTHON_RUN, TEMPLATE_RUN = 40, 20  # tokens, tags: five lines or so that stand twice
SHOWN = 5  # of each list without --all
# Words that name nothing, as an identifier or as a part of one.
BANNED = frozenset(
    {"told", "said", "kept", "one", "asked", "found", "looked", "place", "own", "lot", "dear", "word", "saying"}
)
NAMES_A_THING = frozenset({"word", "place", "own", "found", "one"})  # fine inside a longer name: keyword, placement


@dataclass(frozen=True)
class Module:
    """One file of Python: its path below the checkout, its text, its syntax tree."""

    path: str
    text: str
    tree: ast.Module

    @property
    def lines(self) -> int:
        return self.text.count("\n")

    @property
    def room(self) -> str:
        """`stackviz/compare/page.py` is of `compare`; a single file of `stackviz` is a room of its own."""
        package, first, *_rest = self.path.split("/")
        return first.removesuffix(".py") if package == "stackviz" else package


@dataclass(frozen=True)
class Figure:
    """A measure: its one line, and where it was found, the worst first."""

    name: str
    value: str
    details: Sequence[str] = ()


def modules(tree: Path) -> list[Module]:
    """The code: no migrations, tests, tools or benchmarks."""
    paths = sorted(
        path for package in PACKAGES for path in (tree / package).rglob("*.py") if "migrations" not in path.parts
    )
    texts = [(str(path.relative_to(tree)), path.read_text(encoding="utf-8")) for path in paths]
    return [Module(path, text, ast.parse(text)) for path, text in texts]


# --- templates ---


def template_files(tree: Path) -> list[Path]:
    """Django templates and the parts of pages that are Jinja2."""
    return sorted(path for path in (tree / "templates").rglob("*") if path.suffix in (".html", ".jinja"))


def template_lines(tree: Path) -> Figure:
    lines = [
        (len(line), f"{path.relative_to(tree)}:{number}")
        for path in template_files(tree)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
    ]
    long = sorted(((length, location) for length, location in lines if length > LINE_LIMIT), reverse=True)
    longest = max(lines)
    very_long = sum(length > 200 for length, _location in long)
    value = f"longest {longest[0]}; {len(long)} of {len(lines)} over {LINE_LIMIT} characters, {very_long} over 200"
    return Figure("template lines", value, [f"{length:5} {location}" for length, location in long])


# --- sizes ---


def functions(code: Iterable[Module]) -> Iterator[tuple[Module, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for module in code:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield module, node


def function_lengths(code: Sequence[Module]) -> Figure:
    """Lines from `def` to the end, docstring included."""
    lengths = sorted(
        ((node.end_lineno or node.lineno) - node.lineno + 1, f"{module.path}:{node.lineno} {node.name}")
        for module, node in functions(code)
    )
    count = len(lengths)
    value = f"longest {lengths[-1][0]}; median {lengths[count // 2][0]}, p90 {lengths[count * 9 // 10][0]} of {count}"
    return Figure("function lines", value, [f"{length:5} {location}" for length, location in reversed(lengths)][:20])


def file_lengths(code: Sequence[Module]) -> Figure:
    lengths = sorted(((module.lines, module.path) for module in code), reverse=True)
    long = sum(length > FILE_LIMIT for length, _path in lengths)
    value = f"longest {lengths[0][0]}; {long} of {len(lengths)} over {FILE_LIMIT} lines"
    return Figure("file lines", value, [f"{length:5} {path}" for length, path in lengths[:20]])


def rooms(code: Sequence[Module]) -> Figure:
    lines: Counter[str] = Counter()
    for module in code:
        lines[module.room] += module.lines
    total = sum(lines.values())
    large = sum(count > ROOM_LIMIT * total for count in lines.values())
    name, most = lines.most_common(1)[0]
    value = (
        f"{total:,} lines in {len(lines)}; largest {name} {most:,} ({most / total:.1%}); {large} over {ROOM_LIMIT:.0%}"
    )
    return Figure("rooms", value, [f"{count:6,} {count / total:6.1%} {room}" for room, count in lines.most_common()])


# --- names ---


def names_defined_twice(code: Sequence[Module], kinds: tuple[type, ...], name: str) -> Figure:
    """Public names at the top of a module that another module defines too."""
    locations: defaultdict[str, list[str]] = defaultdict(list)
    for module in code:
        for node in module.tree.body:
            if isinstance(node, kinds) and not node.name.startswith("_"):  # type: ignore[attr-defined]
                locations[node.name].append(module.path)  # type: ignore[attr-defined]
    twice = sorted(((len(paths), key, paths) for key, paths in locations.items() if len(paths) > 1), reverse=True)
    value = f"{len(twice)} of {len(locations)} names"
    return Figure(name, value, [f"{count} × {key}: {', '.join(paths)}" for count, key, paths in twice])


def bound_names(tree: ast.AST) -> Iterator[str]:
    """Every name that the code chose: variables, arguments, functions, classes, fields."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


def is_banned(name: str) -> bool:
    """`told`, `_told_of_all`, `ReadTold`; not `OneToOneField`'s likes, where the word is a part of a thing's name."""
    if name.strip("_").lower() in BANNED:
        return True
    parts = [part.lower() for part in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)]
    return bool((BANNED - NAMES_A_THING) & set(parts))


def banned_identifiers(code: Sequence[Module]) -> Figure:
    locations: Counter[str] = Counter()
    names: Counter[str] = Counter()
    for module in code:
        for name in bound_names(module.tree):
            if is_banned(name):
                names[name] += 1
                locations[module.path] += 1
    listed = [f"{count:5} {name}" for name, count in names.most_common()]
    return Figure(
        "banned identifiers", f"{sum(names.values())} times {len(names)} names, in {len(locations)} files", listed
    )


# --- shape ---


def positional_calls(code: Sequence[Module]) -> Figure:
    calls = sorted(
        (
            (len(node.args), f"{module.path}:{node.lineno} {ast.unparse(node.func)[:40]}")
            for module in code
            for node in ast.walk(module.tree)
            if isinstance(node, ast.Call) and len(node.args) > ARGUMENT_LIMIT
        ),
        reverse=True,
    )
    most = calls[0][0] if calls else 0
    value = f"{len(calls)} with over {ARGUMENT_LIMIT}; most {most}"
    return Figure("positional arguments", value, [f"{count:5} {location}" for count, location in calls])


def wide_dataclasses(code: Sequence[Module]) -> Figure:
    """Dataclasses with more than five fields that can be built by position."""
    wide = [
        (fields, f"{module.path}:{node.lineno} {node.name}")
        for module in code
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ClassDef) and is_positional_dataclass(node)
        for fields in [sum(isinstance(line, ast.AnnAssign) for line in node.body)]
        if fields > ARGUMENT_LIMIT
    ]
    listed = [f"{fields:5} {location}" for fields, location in sorted(wide, reverse=True)]
    return Figure("wide dataclasses", f"{len(wide)} with over {ARGUMENT_LIMIT} fields, not keyword-only", listed)


def is_positional_dataclass(node: ast.ClassDef) -> bool:
    decorators = [ast.unparse(decorator) for decorator in node.decorator_list]
    return any("dataclass" in text and "kw_only=True" not in text for text in decorators)


def python_duplicates(code: Sequence[Module]) -> Figure:
    """Runs of the same tokens in two places: names count, layout, comments, docstrings and imports do not."""
    return _repeated("duplicates, Python", {module.path: _tokens(module.text) for module in code}, PYTHON_RUN)


def template_duplicates(tree: Path) -> Figure:
    """Runs of the same tags and texts in two places, however they are broken into lines."""
    paths = template_files(tree)
    texts = {str(path.relative_to(tree)): path.read_text(encoding="utf-8") for path in paths}
    pieces = {path: list(_pieces(text)) for path, text in texts.items()}
    return _repeated("duplicates, templates", pieces, TEMPLATE_RUN)


def _tokens(text: str) -> list[tuple[str, int]]:
    """(token, line); a statement that is only a string, or an import, is left out."""
    kinds = {tokenize.NAME, tokenize.OP, tokenize.NUMBER, tokenize.STRING}
    statement: list[tokenize.TokenInfo] = []
    tokens: list[tuple[str, int]] = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in kinds:
            statement.append(token)
        elif token.type == tokenize.NEWLINE:
            is_text = all(part.type == tokenize.STRING for part in statement)
            if not is_text and statement[0].string not in ("import", "from"):
                tokens += [(part.string, part.start[0]) for part in statement]
            statement = []
    return tokens


def _pieces(text: str) -> Iterator[tuple[str, int]]:
    """(tag, variable or text, its line), white space folded."""
    for match in re.finditer(r"{#.*?#}|{%.*?%}|{{.*?}}|<[^>{]*>?|[^<{]+|.", text, re.DOTALL):
        piece = " ".join(match[0].split())
        if piece and not piece.startswith("{#"):
            yield piece, text.count("\n", 0, match.start()) + 1


def _repeated(name: str, files: Mapping[str, Sequence[tuple[str, int]]], run: int) -> Figure:
    """The share of all pieces that stand in a run of `run` or more which occurs elsewhere too."""
    locations: defaultdict[int, list[tuple[str, int]]] = defaultdict(list)
    for path, pieces in files.items():
        for start in range(len(pieces) - run + 1):
            locations[hash(tuple(piece for piece, _line in pieces[start : start + run]))].append((path, start))
    covered: defaultdict[str, set[int]] = defaultdict(set)
    pairs: Counter[tuple[str, str]] = Counter()
    for occurrences in locations.values():
        if len(occurrences) > 1:
            for path, start in occurrences:
                covered[path] |= set(range(start, start + run))
            pairs[occurrences[0][0], occurrences[1][0]] += 1
    total = sum(map(len, files.values()))
    repeated = sum(map(len, covered.values()))
    listed = [f"{count + run - 1:5} {path} = {other}" for (path, other), count in pairs.most_common()]
    value = f"{repeated:,} of {total:,} tokens ({repeated / total:.1%}) in runs of {run} or more that stand twice"
    return Figure(name, value, listed)


def import_docstrings(code: Sequence[Module]) -> Figure:
    """Module docstrings that list what the module may import: the contracts of pyproject.toml hold that."""
    listed = [
        module.path for module in code if re.search(r"\b(?:May import|Imports)\b", ast.get_docstring(module.tree) or "")
    ]
    return Figure("docstrings on imports", f"{len(listed)} of {len(code)} modules", listed)


# --- commits ---


def subjects(tree: Path, since: str) -> Figure:
    revisions = f"{since}..HEAD" if since else "HEAD"
    command = ["git", "log", "--no-merges", "--format=%h %s%x00%b%x01", revisions]
    log = subprocess.run(command, cwd=tree, text=True, capture_output=True, check=True).stdout  # noqa: S603 - git, no shell
    commits = [entry.strip().partition("\0") for entry in log.split("\1") if entry.strip()]
    long = [head for head, _nul, _body in commits if len(head.partition(" ")[2]) > SUBJECT_LIMIT]
    silent = sum(not body.strip() for _head, _nul, body in commits)
    value = f"{len(long)} of {len(commits)} over {SUBJECT_LIMIT} characters, {silent} without a body"
    return Figure(f"commits{f' since {since}' if since else ''}", value, long)


def measure(tree: Path, since: str) -> Iterator[Figure]:
    code = modules(tree)
    yield template_lines(tree)
    yield template_duplicates(tree)
    yield python_duplicates(code)
    yield function_lengths(code)
    yield file_lengths(code)
    yield rooms(code)
    yield positional_calls(code)
    yield wide_dataclasses(code)
    yield banned_identifiers(code)
    yield import_docstrings(code)
    yield names_defined_twice(code, (ast.ClassDef,), "classes defined twice")
    yield names_defined_twice(code, (ast.FunctionDef, ast.AsyncFunctionDef), "functions defined twice")
    yield subjects(tree, since)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", type=Path, default=ROOT, help="the checkout to measure (default: this one)")
    parser.add_argument("--since", default="", help="judge the subjects of commits after this revision only")
    parser.add_argument("--all", action="store_true", help="list everything that was found")
    options = parser.parse_args()
    for figure in measure(options.tree.resolve(), options.since):
        print(f"{figure.name:<26} {figure.value}")
        limit = len(figure.details) if options.all or figure.name == "rooms" else SHOWN
        for line in figure.details[:limit]:
            print(f"    {line}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
