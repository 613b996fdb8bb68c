"""Texts that were reworded on purpose: put into the earlier recording, so that only what was not meant differs.

A list is lines of `old English<TAB>new English<TAB>new Chinese`, as they stand in the code (placeholders, tags). The
old Chinese comes from the earlier checkout's translations.
"""

import html
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from babel.messages.pofile import read_po

CHINESE = "locale/zh_Hans/LC_MESSAGES/django.po"
_PLACEHOLDER = re.compile(r"%\(\w+\)[sd]|%[sd]|\{\w*\}")


@dataclass(frozen=True)
class Rewording:
    """One text: what to look for, what stands there now. `part`: of the old text, without which no line holds it."""

    pattern: re.Pattern[str]
    new: str
    part: str

    def applied(self, text: str) -> str:
        return self.pattern.sub(self.new, text) if self.part in text else text


def rewording(old: str, new: str) -> Rewording | None:
    """None where there is nothing to look for: a new text, or one of placeholders alone."""
    old, new = as_shown(old), as_shown(new)
    parts = _PLACEHOLDER.split(old)
    if len("".join(parts).strip()) < 4 or old == new:
        return None
    names = _PLACEHOLDER.findall(old)
    pattern = "(.*?)".join(re.escape(part) for part in parts)
    if pattern.endswith("(.*?)"):
        pattern = pattern[: -len("(.*?)")] + "(.*)"
    edges = (r"\b" if old[0].isalnum() and old.isascii() else "", r"\b" if old[-1].isalnum() and old.isascii() else "")

    def group(match: re.Match[str]) -> str:
        return f"\\g<{names.index(match[0]) + 1}>" if match[0] in names else match[0].replace("\\", "\\\\")

    replaced = _PLACEHOLDER.sub(lambda match: f"\0{match[0]}\0", new).replace("\\", "\\\\")
    replaced = re.sub("\0(.*?)\0", lambda match: group(_PLACEHOLDER.fullmatch(match[1]) or match), replaced)
    return Rewording(re.compile(edges[0] + pattern + edges[1]), replaced, max(parts, key=len))


def as_shown(text: str) -> str:
    """A text of the code as the recording has it: without tags, white space folded."""
    text = html.unescape(re.sub(r"<[a-z/][^>]*>", "", text.replace("\\n", "\n")))
    return " ".join(text.replace("%%", "%").split())


def read_rewordings(files: Iterable[Path], before: Path) -> list[Rewording]:
    """The longest first, so that a text is replaced before another that is a part of it. `before`: a checkout."""
    chinese = translations(before)
    pairs: list[tuple[str, str]] = []
    for file in files:
        for line in file.read_text(encoding="utf-8").splitlines():
            old, new, translation = [*line.split("\t"), "", ""][:3]
            pairs += zip(old.split("|||"), new.split("|||"), strict=False)
            pairs.append((chinese.get(old.replace("\\n", "\n"), ""), translation))
    return [
        each for old, new in sorted(set(pairs), key=lambda pair: -len(pair[0])) if old and (each := rewording(old, new))
    ]


def translations(checkout: Path) -> Mapping[str, str]:
    """Message -> Chinese of that checkout."""
    with (checkout / CHINESE).open("rb") as file:
        catalogue = read_po(file)
    return {
        str(message.id[0] if isinstance(message.id, tuple | list) else message.id): (
            str(message.string[0] if isinstance(message.string, tuple | list) else message.string)
        )
        for message in catalogue
        if message.id
    }
