"""The house in figures: `python -m tools.house` prints a table of the floors, `--ways` the length of five ways."""

import argparse
import ast
import io
import statistics
import tokenize as tk
from collections import Counter
from pathlib import Path

from tools import ways

ROOT = Path(__file__).resolve().parents[1] / "stackviz"
FLOORS = ("site", "desk", "pages", "intake", "records", "web", "draw", "agent", "report", "base")
LAYOUT = {tk.NEWLINE, tk.INDENT, tk.DEDENT, tk.NL, tk.COMMENT, tk.ENDMARKER}
ALL = "together"
HEAD = ("floor", "rooms", "modules", "lines of statements", "median module", "longest", "dataclasses built once")


def statement_lines(text: str) -> int:
    """Count the lines that hold code: no blank lines, comments, docstrings."""
    lines: set[int] = set()
    before = tk.NEWLINE
    for token in tk.generate_tokens(io.StringIO(text).readline):
        if token.type not in LAYOUT and not (token.type == tk.STRING and before in LAYOUT):
            lines.update(range(token.start[0], token.end[0] + 1))
        before = before if token.type in {tk.NL, tk.COMMENT} else token.type
    return len(lines)


def built_once(trees: dict[Path, ast.Module]) -> Counter[str]:
    """Count, by floor, the dataclasses whose name is called in one place of all the code."""
    nodes = [(path.parts[0], node) for path, tree in trees.items() for node in ast.walk(tree)]
    calls = Counter(
        getattr(node.func, "id", getattr(node.func, "attr", "")) for _, node in nodes if isinstance(node, ast.Call)
    )
    return Counter(
        floor
        for floor, node in nodes
        if isinstance(node, ast.ClassDef) and calls[node.name] == 1
        if any("dataclass" in ast.unparse(decorator) for decorator in node.decorator_list)
    )


def print_floors() -> None:
    paths = [path for path in ROOT.glob("*/**/*.py") if "migrations" not in path.parts]
    texts = {path.relative_to(ROOT): path.read_text(encoding="utf-8") for path in paths}
    once = built_once({path: ast.parse(text) for path, text in texts.items()})
    print("|", " | ".join(HEAD), "|\n|" + "---|" * len(HEAD))
    for floor in (*FLOORS, ALL):
        own = {path: text for path, text in texts.items() if floor in (path.parts[0], ALL)}
        lengths = [text.count("\n") for text in own.values()]
        rooms = {path.parts[:2] for path in own if len(path.parts) > 2}
        code = f"{sum(map(statement_lines, own.values())):,}"
        median = f"{statistics.median(lengths):.0f}"
        built = once.total() if floor == ALL else once[floor]
        print("|", " | ".join(map(str, (floor, len(rooms), len(own), code, median, max(lengths), built))), "|")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.house", description=__doc__)
    parser.add_argument("--ways", nargs="*", choices=ways.WAYS, help="how many files five ways enter, or those named")
    parser.add_argument("--files", action="store_true", help="with --ways: name the files, in order")
    options = parser.parse_args()
    if options.ways is None:
        print_floors()
    else:
        ways.print_ways(options.ways or list(ways.WAYS), with_files=options.files)


if __name__ == "__main__":
    main()
