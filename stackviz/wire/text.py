"""Files and fields -> one text, however they were written; the agent and the site read alike."""

import codecs
from collections.abc import Iterable

__all__ = ["NoText", "decoded", "joined"]

_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


class NoText(ValueError):
    """These bytes are no text: there are NUL bytes in it."""


def decoded(content: bytes) -> str:
    """The text of a file: UTF-8, UTF-16 as PowerShell's `>` writes it, an old code page. Raises NoText."""
    encoding = next((encoding for bom, encoding in _BOMS if content.startswith(bom)), "utf-8")
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError:
        text = content.decode("cp1252" if encoding == "utf-8" else encoding, errors="replace")
    if "\x00" in text:
        raise NoText
    return text


def joined(texts: Iterable[str]) -> str:
    """One text with the line ends of this system, an empty line between each two; those without words left out."""
    return "\n\n".join(text.replace("\r\n", "\n") for text in texts if text.strip())
