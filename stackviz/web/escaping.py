"""Text as other formats may hold it: BibTeX, XML."""

import re

_ESCAPED = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip
_NOT_IN_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def bibtex_text(text: str) -> str:
    """Escape what TeX takes for commands."""
    return "".join(_ESCAPED.get(sign, sign) for sign in text)


def xml_text(text: str) -> str:
    """Remove the control characters that XML 1.0 cannot hold."""
    return _NOT_IN_XML.sub("", text)
