"""A pretty printer after Wadler and Prettier: text that stands on one line if it fits, else on several."""

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH = 120
INDENT = 2


@dataclass
class Line:
    """Where a line may break; unbroken it is `flat`. A blank one leaves an empty line, and must break too."""

    flat: str = ""
    must_break: bool = False
    is_blank: bool = False


@dataclass
class Nest:
    """The lines in it are indented one level more."""

    content: "Doc"


@dataclass
class Group:
    """On one line if it fits, else broken at each line of its own."""

    content: "Doc"
    is_broken: bool = False


@dataclass
class Fill:
    """Contents and lines in turn: a line breaks only where the content after it does not fit."""

    parts: "list[Doc]"


@dataclass
class Either:
    """`flat` if it fits, else `broken`: two ways to write one thing."""

    flat: str
    broken: "Doc"


Doc = str | Line | Nest | Group | Fill | Either | list["Doc"]
Pending = tuple[int, bool, Doc]  # indentation, whether lines break, what is to be printed


def parts_of(doc: Doc) -> Sequence[Doc]:
    if isinstance(doc, list):
        return doc
    if isinstance(doc, Fill):
        return doc.parts
    return [doc.content] if isinstance(doc, Nest | Group) else []


def mark_broken(doc: Doc) -> bool:
    """Mark each group that holds a line that must break. -> whether `doc` holds one."""
    if isinstance(doc, Line):
        return doc.must_break or doc.is_blank
    is_broken = isinstance(doc, str) and "\n" in doc
    for part in parts_of(doc):
        is_broken = mark_broken(part) or is_broken
    if isinstance(doc, Group):
        doc.is_broken = is_broken = doc.is_broken or is_broken
    return is_broken


def fits(pending: Sequence[Pending], room: int) -> bool:
    """Whether what is to be printed, the last first, fits up to the first line that breaks."""
    stack = list(pending)
    while stack and room >= 0:
        _, broken, doc = stack.pop()
        if isinstance(doc, str):
            head, is_end, _ = doc.partition("\n")
            room -= len(head)
            if is_end:
                break
        elif isinstance(doc, Line):
            if broken or doc.must_break or doc.is_blank:
                break
            room -= len(doc.flat)
        elif isinstance(doc, Either):
            room -= len(doc.flat)
        else:
            broken = broken or (isinstance(doc, Group) and doc.is_broken)
            stack.extend((0, broken, part) for part in reversed(parts_of(doc)))
    return room >= 0


class Printer:
    """Prints one document; `stack` holds what is still to be printed, the next thing last."""

    def __init__(self) -> None:
        self.lines = [""]
        self.stack: list[Pending] = []

    @property
    def room(self) -> int:
        return WIDTH - len(self.lines[-1])

    def printed(self, doc: Doc) -> str:
        mark_broken(doc)
        self.stack = [(0, True, doc)]
        while self.stack:
            self._print(*self.stack.pop())
        return "\n".join(line.rstrip() for line in self.lines).strip("\n") + "\n"

    def _print(self, indent: int, broken: bool, doc: Doc) -> None:  # noqa: FBT001 (a part of Pending)
        if isinstance(doc, str):
            first, *more = doc.split("\n")
            self.lines[-1] += first
            self.lines += more
        elif isinstance(doc, Line):
            if broken or doc.must_break or doc.is_blank:
                self.lines += ["", " " * indent] if doc.is_blank else [" " * indent]
            else:
                self.lines[-1] += doc.flat
        elif isinstance(doc, Group):
            flat = not doc.is_broken and fits([*self.stack, (indent, False, doc.content)], self.room)
            self.stack.append((indent, not flat, doc.content))
        elif isinstance(doc, Either):
            flat = fits([*self.stack, (indent, False, doc.flat)], self.room)
            self.stack.append((indent, not flat, doc.flat if flat else doc.broken))
        elif isinstance(doc, Fill):
            self._fill(indent, broken, doc.parts)
        else:
            deeper = indent + INDENT if isinstance(doc, Nest) else indent
            self.stack.extend((deeper, broken, part) for part in reversed(parts_of(doc)))

    def _fill(self, indent: int, broken: bool, parts: "list[Doc]") -> None:  # noqa: FBT001 (a part of Pending)
        content, *rest = parts
        if rest:
            line, following, *_ = rest
            flat = fits([(indent, False, [content, line, following])], self.room)
            self.stack.append((indent, broken, Fill(rest[1:])))
            self.stack.append((indent, not flat, line))
        content_flat = fits([(indent, False, content)], self.room)
        self.stack.append((indent, not content_flat, content))


def printed(doc: Doc) -> str:
    """The document as text, each line at most WIDTH characters where its lines allow it."""
    return Printer().printed(doc)
