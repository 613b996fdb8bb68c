"""Formats static/css: `python -m tools.styles [--check]`. `make format` runs it, `make lint` checks it.

Layout by cssbeautifier; a line over 120 characters is broken by hand, after a comma.
"""

import re
import sys
from pathlib import Path

import cssbeautifier

ROOT = Path(__file__).resolve().parent.parent
LINE_LIMIT = 120
OPTIONS = cssbeautifier.default_options()
OPTIONS.indent_size = 2
OPTIONS.end_with_newline = True
OPTIONS.newline_between_rules = False
OPTIONS.space_around_combinator = True
_LAST_DECLARATION = re.compile(r"(?<=[^\s;{}/])(?=\s*\})")


def formatted(text: str) -> str:
    """The style sheet with one declaration a line, each with its semicolon."""
    return str(cssbeautifier.beautify(_LAST_DECLARATION.sub(";", text), OPTIONS))


def main(arguments: list[str]) -> int:
    check, faults = "--check" in arguments, []
    for path in sorted((ROOT / "static" / "css").glob("*.css")):
        text, name = path.read_text(encoding="utf-8"), path.relative_to(ROOT)
        current = formatted(text)
        if current != text and check:
            faults.append(f"{name}: not formatted; run `make format`")
        elif current != text:
            path.write_text(current, encoding="utf-8")
        for number, line in enumerate(current.splitlines(), 1):
            if len(line) > LINE_LIMIT:
                faults.append(f"{name}:{number}: {len(line)} characters, at most {LINE_LIMIT}; break it after a comma")
    print("\n".join(faults) or "style sheets: formatted")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
