"""XML text -> a small tree, for dumps that strangers paste.

Entity declarations are refused before they are expanded, external DTDs are never fetched, depth and size are bounded.
Old drivers print a document type with declarations of their elements: these are passed over, defaults included.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

__all__ = ["MOST_CHARS", "Element", "XmlRefusedError", "parse_xml"]

MOST_CHARS = 8 * 1024 * 1024
_MOST_DEPTH = 40
_MOST_ELEMENTS = 200_000


class XmlRefusedError(ValueError):
    """The text is no XML, or XML we do not read."""


@dataclass
class Element:
    name: str
    attributes: dict[str, str]
    text: str = ""
    children: list["Element"] = field(default_factory=list)

    def child(self, name: str) -> "Element | None":
        return next((child for child in self.children if child.name == name), None)

    def all(self, name: str) -> Iterator["Element"]:
        return (child for child in self.children if child.name == name)

    def at(self, path: str) -> str | None:
        """The text at `a/b/c`, trimmed; None if there is no such element."""
        element: Element | None = self
        for name in path.split("/"):
            element = element.child(name) if element else None
        return element.text.strip() if element else None


def parse_xml(text: str) -> Element:
    """The root element. Raises XmlRefusedError."""
    if len(text) > MOST_CHARS:
        raise XmlRefusedError(f"longer than {MOST_CHARS} characters")
    builder = _Builder()
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.text
    parser.specified_attributes = True
    parser.EntityDeclHandler = _entity
    try:
        parser.Parse(text.encode("utf-8", "replace"), True)  # noqa: FBT003 - expat's own signature
    except expat.ExpatError as error:
        raise XmlRefusedError(f"not XML: {error}") from None
    if builder.root is None:
        raise XmlRefusedError("no element")
    return builder.root


class _Builder:
    def __init__(self) -> None:
        self.root: Element | None = None
        self._open: list[Element] = []
        self._count = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self._count += 1
        if self._count > _MOST_ELEMENTS or len(self._open) >= _MOST_DEPTH:
            raise XmlRefusedError("too many elements, or nested too deeply")
        element = Element(name, attributes)
        if self._open:
            self._open[-1].children.append(element)
        else:
            self.root = element
        self._open.append(element)

    def end(self, _name: str) -> None:
        self._open.pop()

    def text(self, text: str) -> None:
        self._open[-1].text += text


def _entity(*_arguments: object) -> None:
    raise XmlRefusedError("an entity declaration")
