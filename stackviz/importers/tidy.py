"""Taking off what wraps a pasted dump: carriage returns, terminal escapes, quote marks, fences, log prefixes.

May import: the standard library.
"""

import re

__all__ = ["tidy"]

_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")


def tidy(text: str) -> str:
    """The text as the tool printed it, as far as that can be told. Never longer than before."""
    return _ESCAPE.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
