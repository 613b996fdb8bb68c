"""Text as a BibTeX entry may hold it."""

_ESCAPED = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip


def bibtex_text(text: str) -> str:
    """The text with what TeX takes for commands escaped."""
    return "".join(_ESCAPED.get(sign, sign) for sign in text)
