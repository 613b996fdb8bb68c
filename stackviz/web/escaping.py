"""Text as other formats may hold it: BibTeX, XML, HTML that a narrow column breaks."""

import re

from django.utils.html import escape
from django.utils.safestring import SafeString

_ESCAPED = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip
_NOT_IN_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

# Where a name of code in a narrow column goes on in the next line: after a sign, and before a hump.
_BREAK = re.compile(r"(?<=[._=(])(?=\w)|(?<=[a-z0-9])(?=[A-Z])")


def bibtex_text(text: str) -> str:
    """Escape what TeX takes for commands."""
    return "".join(_ESCAPED.get(sign, sign) for sign in text)


def xml_text(text: str) -> str:
    """Remove the control characters that XML 1.0 cannot hold."""
    return _NOT_IN_XML.sub("", text)


def breakable(code: str) -> SafeString:
    """Escape a name of code, and allow breaks where it has parts."""
    return SafeString(_BREAK.sub("<wbr>", escape(code)))
