"""What a terminal or a program is shown: documents as JSON, and single lines."""

import json
import re
from typing import Any

__all__ = ["printable", "terminal_json"]

# Python escapes those below U+0020 itself. These move a terminal's cursor, end its line or turn its text around.
_CONTROLS = re.compile("[\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def terminal_json(document: Any) -> str:  # noqa: ANN401 (whatever JSON holds)
    """The document, indented, its letters as they are; what controls a terminal is escaped, and read back the same."""
    text = json.dumps(document, indent=2, ensure_ascii=False)
    return _CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def printable(line: str) -> str:
    """The line with "?" for what moves the cursor, changes the terminal or turns the direction of the text."""
    return "".join(letter if letter.isprintable() else "?" for letter in line)
