"""Whether a page gives vendors' hues to their things, and to nothing else."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser

from stackviz.draw.colours import VENDORS, hue_of

CONTROLS = {"button", "input", "select", "textarea", "option", "summary"}
HUED = re.compile(r"\bv-([a-z]+)(?= |$)(?!-)")
SHEET = re.compile(r"^(?:/zh-hans)?/accelerators/([a-z0-9-]+)/")
# Where a style may name a vendor: the colours of columns and of subjects, and the chapter about one call on two GPUs.
NAMED = re.compile(rf"var\(--({'|'.join((*VENDORS, 'other'))})\)")
ALLOWED = re.compile(r"\s*--[cs]\d:")
COLOUR = re.compile(r"#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})\b", re.IGNORECASE)
ROWS = {"tr", "li", "a"}
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}


class _Element:
    def __init__(self, tag: str, hue: str, parent: "_Element | None") -> None:
        self.tag, self.hue, self.parent = tag, hue, parent
        self.sheets: set[str] = set()


class _Page(HTMLParser):
    """The hued elements of a page with the spec sheets that they, or else the rows they are in, lead to."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[_Element] = []
        self.hued: list[_Element] = []
        self.faults: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        names = [name for name in HUED.findall(given.get("class", "")) if name in VENDORS or name == "other"]
        element = _Element(tag, names[0] if names else "", self.open[-1] if self.open else None)
        if names:
            self.hued.append(element)
            if tag in CONTROLS:
                self.faults.append(f"<{tag}> has the hue of {names[0]}")
        if sheet := SHEET.match(given.get("href", "")):
            for at in (element, *self.open):
                at.sheets.add(sheet[1])
        self.faults += _colours_of(tag, given)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if any(element.tag == tag for element in self.open):
            while self.open.pop().tag != tag:
                pass


def _colours_of(tag: str, given: dict[str, str]) -> Iterator[str]:
    """Colours that an element has besides those of its classes."""
    for style in given.get("style", "").split(";"):
        if NAMED.search(style) and not ALLOWED.match(style):
            yield f"<{tag} style> names a vendor's colour: {style[:80]}"
    for name in ("fill", "stroke", "style"):
        for found in COLOUR.finditer(given.get(name, "")):
            parts = [int(part, 16) for part in found.groups()]
            if max(parts) - min(parts) > 24:
                yield f"<{tag} {name}> has a colour of its own: {found[0]}"


def hue_faults_of(page: str, vendors: dict[str, str]) -> list[str]:
    """What has a hue that is not its vendor's. `vendors`: slug of a spec sheet -> slug of its vendor."""
    read = _Page()
    read.feed(page)
    faults = read.faults
    for element in read.hued:
        of = _with_sheets(element)
        hues = {hue_of(vendors[slug]).vendor for slug in (of.sheets if of else ()) if slug in vendors}
        if len(hues) == 1 and hues != {element.hue}:
            faults.append(f"<{element.tag}> of {sorted(of.sheets if of else ())} has the hue of {element.hue}")
    return faults


def _with_sheets(element: _Element) -> _Element | None:
    """The element itself, or else its row or link, that leads to spec sheets."""
    at: _Element | None = element
    while at is not None and not at.sheets and at.tag not in ROWS:
        at = at.parent
        while at is not None and at.tag not in ROWS:
            at = at.parent
    return at if at is not None and at.sheets else None
