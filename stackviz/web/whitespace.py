"""White space of templates: line breaks that only lay out the source are taken out when a template is compiled.

A line break with the indentation around it

- is nothing just inside an element: after its opening tag, before its closing tag;
- is nothing beside a block element (`<p>`, `<td>` ...) and beside a template tag that prints nothing (`{% if %}` ...);
- is one space anywhere else: between words, values and inline elements, between the attributes of a tag.

White space within a line stays, as does all of it in `<pre>`, `<textarea>`, `<script>`, `<style>` and in texts to be
translated, `{% blocktranslate %}` and `{% trans %}`.
"""

import re


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Elements beside which a browser shows no white space.
BLOCK_ELEMENTS = _names("""
    address article aside base blockquote body br caption circle col colgroup datalist dd defs desc details
    dialog div dl dt ellipse fieldset figcaption figure footer form g h1 h2 h3 h4 h5 h6 head header hgroup hr
    html legend li line link main meta nav noscript ol optgroup option p path polygon polyline pre rect script
    section style summary table tbody td template text tfoot th thead title tr ul use
""")
VOID_ELEMENTS = _names("area base br col embed hr img input link meta source track wbr")
RAW_ELEMENTS = _names("pre script style textarea")
# Template tags that print nothing where they stand; so do those that end in `as name`.
SILENT_TAGS = _names("""
    call endcall endmacro endset from import macro set
    autoescape block csrf_token elif else empty endautoescape endblock endfilter endfor endif endifchanged
    endlanguage endlocalize endlocaltime endspaceless endwith extends filter for fragment htmx_script if
    ifchanged include language load localize localtime resetcycle spaceless with
""")

_BREAK = r"(?P<gap>[ \t]*\n\s*)"
_CONTENT = re.compile(rf"{_BREAK}|(?P<declaration><!.*?>)|(?P<tag></?[A-Za-z][\w-]*)|[^<\n]*[^<\s]|[ \t]+|<", re.DOTALL)
_IN_TAG = re.compile(rf"{_BREAK}|(?P<quote>[\"'])|(?P<end>/?>)|[ \t]+|/|[^\s\"'/>]+")


def is_silent(tag: str) -> bool:
    """Whether a template tag, as written between its braces, prints nothing where it stands."""
    words = tag.split()
    if words[0] == "blocktranslate":
        return "asvar" in words
    return words[0] in SILENT_TAGS or (len(words) > 2 and words[-2] == "as")


class Compactor:
    """Meets the texts, values and tags of a template from left to right and takes out the breaks of its layout."""

    def __init__(self) -> None:
        self.dissolves = True  # whether a line break here would be nothing, by what stands before it
        self.gap: tuple[list[str], int] | None = None  # the line break that waits for what follows it
        self.tag = ""  # the tag being read, `a` or `/a`; "" between tags
        self.quote = ""
        self.raw = ""  # the element being read whose white space stays

    def meet_text(self, text: str) -> list[str]:
        """The text in parts, of which the last may still change: join them when the whole template was met."""
        parts: list[str] = []
        at = 0
        while at < len(text):
            if self.raw:
                end = re.compile(f"</{self.raw}", re.IGNORECASE).search(text, at)
                stop = end.start() if end else len(text)
                self.raw = "" if end else self.raw
                self.dissolves = False
            else:
                stop = self._read_part(text, at, parts)
            parts.append(text[at:stop])
            at = stop
        return parts

    def meet_printed(self) -> None:
        """A value, or a tag that prints."""
        self._meet(before=False, after=False)

    def meet_silent(self) -> None:
        """A tag that prints nothing of its own, or the end of the template."""
        self._meet(before=True, after=True)

    def _meet(self, *, before: bool, after: bool) -> None:
        """Something other than a line break: whether one `before` it, or `after` it, is nothing."""
        if self.gap:
            parts, index = self.gap
            parts[index] = "" if self.dissolves or before else " "
            self.gap = None
        self.dissolves = after

    def _read_part(self, text: str, at: int, parts: list[str]) -> int:
        """Reads a line break, the start or end of a tag, a quote or anything between them. -> where it ends."""
        match = (_IN_TAG if self.tag else _CONTENT).match(text, at)
        if match is None:  # white space of another kind, such as a form feed
            self._meet(before=False, after=False)
            return at + 1
        if match.lastgroup == "gap":
            self.gap = (parts, len(parts))
        elif match.lastgroup == "tag":
            self.tag = match[0][1:].lower()
            is_closing = self.tag.startswith("/")
            self._meet(before=is_closing or self.tag in BLOCK_ELEMENTS, after=False)
        elif match.lastgroup == "end" and not self.quote:
            self._end_tag(match[0])
        elif match.lastgroup == "quote" and self.quote in ("", match[0]):
            self._meet(before=bool(self.quote), after=not self.quote)
            self.quote = "" if self.quote else match[0]
        else:
            is_declaration = match.lastgroup == "declaration"
            self._meet(before=is_declaration, after=is_declaration)
        return match.end()

    def _end_tag(self, end: str) -> None:
        name = self.tag.lstrip("/")
        is_opening = not self.tag.startswith("/") and name not in VOID_ELEMENTS and end == ">"
        self._meet(before=True, after=is_opening or name in BLOCK_ELEMENTS)
        self.raw = name if is_opening and name in RAW_ELEMENTS else ""
        self.tag = ""
