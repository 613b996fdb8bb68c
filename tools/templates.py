"""The layout of templates: at most 120 characters a line, an element or tag a line where one does not hold them.

python -m tools.templates           rewrite templates/**/*.html and *.jinja
python -m tools.templates --check   write nothing; name the files that would change and every longer line

What a browser is sent stays the same: a line is broken only where `stackviz.web.whitespace` takes the break out again.
Lines that are too long for another reason are the writer's to mend: `{% with %}`, a partial, or a value made in Python.
"""

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from stackviz.web.whitespace import BLOCK_ELEMENTS, RAW_ELEMENTS, VOID_ELEMENTS, _names, is_silent
from tools.layout import WIDTH, Doc, Either, Fill, Group, Line, Nest, printed

ROOT = Path(__file__).resolve().parent.parent
PAIRED = _names("autoescape block call filter for if ifchanged language localize macro set spaceless with")
BETWEEN = _names("elif else empty")
LISTS = frozenset(
    ["body", "dl", "head", "html", "nav", "ol", "section", "table", "ul"]
)  # never on one line with blocks
LONGEST_COMMENT = 100
SHORT_TEXT = 60  # a {% translate %} this short is never written as {% blocktranslate %}


@dataclass
class Gap:
    """White space between two nodes."""

    text: str


@dataclass
class Leaf:
    """What is not taken apart. `is_silent`: a line break beside it is nothing. `is_structure`: it prints blocks."""

    doc: Doc
    is_silent: bool = False
    is_structure: bool = False
    is_comment: bool = False


@dataclass
class Element:
    name: str
    opening: Doc
    children: "list[Node]"
    closing: str

    @property
    def is_silent(self) -> bool:
        return self.name in BLOCK_ELEMENTS


@dataclass
class Control:
    """`{% if %}` with its branches, each after its tag, up to `{% endif %}`; and their like."""

    name: str
    branches: "list[tuple[Doc, list[Node]]]"
    ending: str
    is_silent: bool = field(default=True, init=False)


Node = Gap | Leaf | Element | Control


# --- reading ---

TEMPLATE = r"(?P<comment>\{#.*?#\}(?:[ \t]*\n[ \t]*\{#.*?#\})*)|(?P<var>\{\{.*?\}\})|(?P<tag>\{%.*?%\})|(?P<gap>\s+)|"
NOT_TEMPLATE = r"(?!\{[#{%])"
CONTENT = re.compile(
    TEMPLATE + r"(?P<close></[A-Za-z].*?>)|(?P<element><[A-Za-z][\w-]*)|(?P<declaration><!.*?>)"
    rf"|(?P<text>(?:{NOT_TEMPLATE}(?:[^\s<]|<(?![A-Za-z/!])))+)",
    re.DOTALL,
)
ATTRIBUTES = re.compile(
    TEMPLATE + rf"(?P<close>/?>)|(?P<quoted>[^\s=>\"'{{/]+=[\"'])|(?P<text>(?:{NOT_TEMPLATE}[^\s>])+)", re.DOTALL
)
VALUES = {
    quote: re.compile(TEMPLATE + rf"(?P<close>{quote})|(?P<text>(?:{NOT_TEMPLATE}[^\s{quote}])+)", re.DOTALL)
    for quote in "\"'"
}


class Reader:
    """Reads a template into nodes. Raises SyntaxError where elements and template tags do not nest."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.at = 0

    def read(self) -> list[Node]:
        nodes, end = self._nodes(CONTENT)
        if end:
            raise SyntaxError(f"{end} closes nothing")
        return nodes

    def _nodes(self, pattern: re.Pattern[str]) -> tuple[list[Node], str]:
        """Nodes up to the closing tag, `>`, quote or template tag that ends them; that is the second, "" at the end."""
        nodes: list[Node] = []
        while self.at < len(self.source):
            match = pattern.match(self.source, self.at)
            if not match:
                raise SyntaxError(f"cannot read {self.source[self.at : self.at + 60]!r}")
            self.at = match.end()
            kind, text = match.lastgroup, match[0]
            if kind == "tag":
                text = (
                    "{% " + " ".join(text[2:-2].split()) + " %}" if "\n" in text else "{% " + text[2:-2].strip() + " %}"
                )
            if kind == "close" or (kind == "tag" and is_end(text)):
                return nodes, text
            nodes.append(self._node(str(kind), text, pattern))
        return nodes, ""

    def _node(self, kind: str, text: str, pattern: re.Pattern[str]) -> Node:
        if kind == "gap":
            return Gap(text)
        if kind == "tag":
            return self._template_tag(text, pattern)
        if kind == "element":
            return self._element(text)
        if kind == "quoted":
            return Leaf([text, *self._value(text[-1])])
        if kind == "comment":
            return Leaf(comment_doc(text), is_silent=True, is_comment=True)
        if kind == "var":
            return value_node(text)
        return Leaf(text, is_silent=kind == "declaration")

    def _raw(self, end: str) -> tuple[str, str]:
        """The text up to the pattern `end`, and what that matched."""
        match = re.compile(end, re.IGNORECASE).search(self.source, self.at)
        if not match:
            raise SyntaxError(f"no {end}")
        text = self.source[self.at : match.start()]
        self.at = match.end()
        return text, match[0]

    def _template_tag(self, tag: str, pattern: re.Pattern[str]) -> Node:
        name, silent = name_of(tag), is_silent(tag[3:-3])
        if name in TEXTS:
            return Leaf(text_doc(TEXTS[name], tag, self._raw(rf"\{{%\s*end{name}\s*%\}}")[0]), is_silent=silent)
        if name == "comment":
            body, end = self._raw(r"\{%\s*endcomment\s*%\}")
            return Leaf(tag + body + end, is_silent=True, is_comment=True)
        if name == "translate":
            return Leaf(translate_doc(tag), is_silent=silent)
        if name not in PAIRED or is_assignment(tag):
            return Leaf(tag, is_silent=silent, is_structure=name in ("include", "fragment"))
        branches: list[tuple[Doc, list[Node]]] = []
        end = tag
        while name_of(end) != f"end{name}":
            start = call_doc(end)
            children, end = self._nodes(pattern)
            if not end.startswith("{%") or (name_of(end) not in BETWEEN and name_of(end) != f"end{name}"):
                raise SyntaxError(f"{tag} meets {end or 'the end'}")
            branches.append((start, children))
        return Control(name, branches, end)

    def _element(self, start: str) -> Node:
        name = start[1:].lower()
        attributes, end = self._nodes(ATTRIBUTES)
        opening = opening_doc(start, attributes, end)
        if name in VOID_ELEMENTS or end == "/>":
            return Leaf(opening, is_silent=name in BLOCK_ELEMENTS, is_structure=name in ("link", "meta"))
        if name in RAW_ELEMENTS:
            text, closing = self._raw(f"</{name}>")
            return Leaf([opening, text, closing], is_silent=name in BLOCK_ELEMENTS, is_structure=True)
        children, closing = self._nodes(CONTENT)
        if not re.match(rf"</{name}\b", closing, re.IGNORECASE):
            raise SyntaxError(f"<{name}> meets {closing or 'the end'}")
        return Element(name, opening, children, closing)

    def _value(self, quote: str) -> list[Doc]:
        """The rest of a quoted value, its closing quote too."""
        nodes, end = self._nodes(VALUES[quote])
        if end != quote:
            raise SyntaxError(f"a value in {quote} meets {end or 'the end'}")
        content = children_doc(nodes, fills=False)
        return [Group(content if len(nodes) == 1 else Nest(content)), end]


def name_of(tag: str) -> str:
    return tag[2:-2].split(maxsplit=1)[0]


def is_assignment(tag: str) -> bool:
    """Whether it is a `{% set name = value %}`, which has no end."""
    return name_of(tag) == "set" and "=" in tag


def is_end(tag: str) -> bool:
    """Whether a template tag ends a branch: `{% else %}`, `{% endif %}`."""
    return name_of(tag) in BETWEEN or name_of(tag).startswith("end")


# --- laying out what is not taken apart ---


def value_node(text: str) -> Leaf:
    """A value; a call that does not fit has an argument a line, and a long text of Jinja2 is a `{% trans %}`."""
    inner = " ".join(text[2:-2].split())
    flat = "{{ " + inner + " }}"
    if match := re.fullmatch(r"""_\((["'])([^"'\\]*)\1\)""", inner):
        words = match[2].replace("%%", "%")
        return Leaf(
            Either(flat, broken_doc(TEXTS["trans"], "{% trans %}", [words])) if len(flat) > SHORT_TEXT else flat
        )
    is_part = inner.startswith("draw_")
    return Leaf(call_doc(flat), is_structure=is_part)


def call_doc(text: str) -> Doc:
    """`{{ draw_box(…) }}` or `{% macro draw_box(…) %}`, over several lines with an argument a line. Jinja2 only."""
    call = re.fullmatch(r"(\{\{ [\w.]+\(|\{% macro \w+\()(.+)(\) \}\}|\) %\})", text)
    if not call:
        return text
    arguments: list[Doc] = []
    for argument in re.findall(r"(?:[^,(\[\"']|\([^()]*\)|\[[^\]]*\]|\"[^\"]*\"|'[^']*')+", call[2]):
        arguments += [",", Line(" ")] if arguments else []
        arguments.append(argument.strip())
    return Group([call[1], Nest([Line(), *arguments]), Line(), call[3]])


def comment_doc(text: str) -> Doc:
    """A comment, over several lines as one comment a line: Django has no other that is short. Neighbours are one."""
    words = re.sub(r"#\}\s*\{#", " ", text)[2:-2].split()
    if len(" ".join(words)) <= LONGEST_COMMENT:
        return "{# " + " ".join(words) + " #}"
    lines = [""]
    for word in words:
        if len(lines[-1]) + len(word) > WIDTH - 8:
            lines.append("")
        lines[-1] += f" {word}"
    docs: list[Doc] = []
    for line in lines:
        docs += ["{#" + line + " #}", Line(must_break=True)]
    return docs[:-1]


@dataclass(frozen=True)
class Text:
    """How a template language writes a text to be translated; `trimmed` is what makes white space in it one space."""

    trimmed: str
    plural: str
    end: str


TEXTS = {
    "blocktranslate": Text(" trimmed", "{% plural %}", "{% endblocktranslate %}"),
    "trans": Text("", "{% pluralize %}", "{% endtrans %}"),  # trimmed by a policy of the environment
}


def text_doc(text: Text, tag: str, body: str) -> Doc:
    """On one line as it is, or over several, trimmed, which makes the same text of it."""
    is_trimmed = text.trimmed in tag
    parts = re.split(r"\{%\s*plural(?:ize)?\s*%\}", body)
    if not is_trimmed and ("\n" in body or any(part != part.strip() for part in parts)):
        return tag + body + text.end
    parts = [re.sub(r"\s*\n\s*", " ", part.strip()) for part in parts]
    flat = tag + text.plural.join(parts) + text.end
    head = tag if is_trimmed else tag.replace("blocktranslate", "blocktranslate trimmed", 1)
    return Either(flat, broken_doc(text, head, parts))


def broken_doc(text: Text, tag: str, parts: Sequence[str]) -> Doc:
    """A text over several lines, and that of its plural."""
    docs: list[Doc] = [tag]
    for number, part in enumerate(parts):
        docs += [Line(must_break=True), text.plural] if number else []
        docs.append(Nest([Line(must_break=True), filled(part)]))
    return [*docs, Line(must_break=True), text.end]


def translate_doc(tag: str) -> Doc:
    """On one line; a longer text as `{% blocktranslate trimmed %}`, which has the same translation."""
    pattern = r"""\{% translate (["'])(\S[^\\{]*\S)\1( context "[^"]*")?(?: as (\w+))? %\}"""
    match = re.fullmatch(pattern, tag)
    if not match or len(tag) < SHORT_TEXT:
        return tag
    name = f" asvar {match[4]}" if match[4] else ""
    head = "{% blocktranslate trimmed" + name + (match[3] or "") + " %}"
    return Either(tag, broken_doc(TEXTS["blocktranslate"], head, [match[2]]))


def filled(text: str) -> Fill:
    """The words of a text; what stands in braces is one word."""
    pieces = re.findall(r"(?:\{\{.*?\}\}|\{%.*?%\}|(?!\{[{%])\S)+|\s+", text)
    return Fill([Line(piece) if piece.isspace() else piece for piece in pieces])


def opening_doc(start: str, attributes: "list[Node]", end: str) -> Doc:
    """An opening tag: on one line, or an attribute a line."""
    nodes = trimmed(attributes)
    if not nodes:
        return start + end
    first = Line(" " if isinstance(attributes[0], Gap) else "")
    return Group([start, Nest([first, children_doc(nodes, fills=False)]), Line(), end])


# --- laying out nodes ---


def trimmed(nodes: "Sequence[Node]") -> "list[Node]":
    """The nodes without the gaps at both ends."""
    first, last = 0, len(nodes)
    while first < last and isinstance(nodes[first], Gap):
        first += 1
    while first < last and isinstance(nodes[last - 1], Gap):
        last -= 1
    return list(nodes[first:last])


def separated(nodes: "Sequence[Node]") -> "Iterator[tuple[str | Line, Leaf | Element | Control]]":
    """Each node with what stands before it: where a line may break, or text if it may not."""
    left: Leaf | Element | Control | None = None
    gap = ""
    for node in trimmed(nodes):
        if isinstance(node, Gap):
            gap = node.text
            continue
        yield (separator(left, gap, node) if left else ""), node
        left, gap = node, ""


def separator(left: Leaf | Element | Control, gap: str, right: Leaf | Element | Control) -> str | Line:
    if not (left.is_silent or right.is_silent):
        return Line(" ") if gap else ""
    if gap and "\n" not in gap:
        return " "
    beside_comment = any(isinstance(node, Leaf) and node.is_comment for node in (left, right))
    return Line(must_break=beside_comment, is_blank=gap.count("\n") > 1)


def children_doc(nodes: "Sequence[Node]", *, fills: bool = True) -> Doc:
    """Nodes with lines between them; those between words and inline elements break one by one if it `fills`."""
    docs: list[Doc] = []
    run: list[Doc] = [[]]
    for before, node in separated(nodes):
        if isinstance(before, Line) and before.flat and fills:
            run += [before, []]
        elif isinstance(before, Line):
            docs += [Fill(run), before]
            run = [[]]
        else:
            run[-1] = [run[-1], before]
        run[-1] = [run[-1], node_doc(node)]
    return [*docs, Fill(run)]


def node_doc(node: Leaf | Element | Control) -> Doc:
    if isinstance(node, Leaf):
        return node.doc
    return element_doc(node) if isinstance(node, Element) else control_doc(node)


def element_doc(node: Element) -> Doc:
    if not trimmed(node.children):
        return [node.opening, "" if node.is_silent or not node.children else " ", node.closing]
    blocks = [child for child in node.children if is_structure(child)]
    is_broken = (
        len(blocks) > 1 or any(isinstance(block, Control) for block in blocks) or (bool(blocks) and node.name in LISTS)
    )
    first, last = edge(node.children[0]), edge(node.children[-1])
    return Group([node.opening, Nest([first, children_doc(node.children)]), last, node.closing], is_broken)


def control_doc(node: Control) -> Doc:
    blocks = [child for _, children in node.branches for child in children if is_structure(child)]
    docs: list[Doc] = []
    for tag, children in node.branches:
        if trimmed(children):
            body: Doc = [edge(children[0]), children_doc(children)]
            docs += [tag, body if node.name == "block" and blocks else Nest(body), edge(children[-1])]
        else:
            docs += [tag, edge(children[0]) if children else ""]
            docs += [Line()] if len(node.branches) > 1 and not children else []
    is_broken = len(blocks) > 1 or (bool(blocks) and (node.name in ("for", "block") or len(node.branches) > 1))
    return Group([*docs, node.ending], is_broken)


def edge(outermost: Node) -> str | Line:
    """What stands between a tag and the first, or last, of what it encloses."""
    return " " if isinstance(outermost, Gap) and "\n" not in outermost.text else Line()


def is_structure(node: Node) -> bool:
    """Whether it is or holds a block element: several of them do not stand on one line."""
    if isinstance(node, Control):
        return any(is_structure(child) for _, children in node.branches for child in children)
    return (isinstance(node, Element) and node.is_silent) or (isinstance(node, Leaf) and node.is_structure)


def formatted(source: str) -> str:
    """The template laid out anew. Raises SyntaxError where its elements and tags do not nest."""
    return printed(children_doc(Reader(source).read()))


def problems(path: Path, *, writes: bool) -> Iterator[str]:
    """What is wrong with the layout of a template; one that is only laid out otherwise is rewritten if `writes`."""
    source = path.read_text(encoding="utf-8")
    try:
        text = formatted(source)
    except SyntaxError as error:
        yield f"{path}: {error}"
        return
    if text != source and writes:
        path.write_text(text, encoding="utf-8")
    elif text != source:
        yield f"{path}: not laid out; run: make format"
    for number, line in enumerate((text if writes else source).splitlines(), 1):
        if len(line) > WIDTH:
            yield f"{path}:{number}: {len(line)} characters, at most {WIDTH}"


def templates_of(folder: Path) -> list[Path]:
    return sorted([*folder.rglob("*.html"), *folder.rglob("*.jinja")])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("paths", nargs="*", type=Path, help="default: every template of the site")
    arguments = parser.parse_args()
    paths = arguments.paths or templates_of(ROOT / "templates")
    lines = [problem for path in paths for problem in problems(path, writes=not arguments.check)]
    print("\n".join(lines))
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
