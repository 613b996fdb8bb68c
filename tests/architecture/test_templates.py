"""How templates look: short lines, and one macro for each part."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = sorted(path for path in (ROOT / "templates").rglob("*") if path.suffix in (".html", ".jinja"))


def test_lines_have_at_most_120_characters():
    long = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in TEMPLATES
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > 120
    ]
    assert TEMPLATES
    assert long == []


def test_part_is_one_macro_named_like_its_file():
    parts = [path for path in TEMPLATES if path.suffix == ".jinja"]
    macros = {path: re.findall(r"{%-? macro (\w+)\(", path.read_text()) for path in parts}
    assert macros == {path: [f"draw{path.stem}"] for path in parts}
    names = [name for found in macros.values() for name in found]
    assert len(set(names)) == len(names) > 30
