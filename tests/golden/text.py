"""A page as a person reads it: one line for each block of text, cells of a row side by side, then links and forms."""

import re
from html.parser import HTMLParser

_HIDDEN = frozenset({"script", "style", "template", "noscript"})
_INLINE = frozenset(
    {"a", "abbr", "b", "bdi", "bdo", "button", "cite", "code", "data", "del", "dfn", "em", "i", "img", "input", "ins"}
    | {"kbd", "label", "mark", "option", "q", "s", "samp", "select", "small", "span", "strong", "sub", "sup", "time"}
    | {"tspan", "u", "var", "wbr"}
)
_CELLS = frozenset({"td", "th"})
_SHOWN_ATTRIBUTES = ("aria-label", "alt", "title", "placeholder")
_SPACE = re.compile(r"[ \t\r\n\f]+")


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.lines: list[str] = []
        self.line: list[str] = []
        self.links: list[str] = []
        self.forms: list[str] = []
        self.hidden = 0
        self.preformatted = 0

    def end_line(self) -> None:
        text = _SPACE.sub(" ", "".join(self.line)).strip()
        self.line = []
        if text.strip("| "):
            self.lines.append(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = {name: value or "" for name, value in attrs}
        if tag in _HIDDEN:
            self.hidden += 1
            return
        if tag in ("pre", "textarea"):
            self.preformatted += 1
        if tag in _CELLS:
            self.line.append(" | ")
        elif tag not in _INLINE:
            self.end_line()
        if tag == "meta" and named.get("name") in ("description", "robots"):
            self.lines.append(f"[{named['name']}: {named.get('content', '')}]")
        self.line.extend(f"[{name}: {named[name]}]" for name in _SHOWN_ATTRIBUTES if named.get(name))
        self._control(tag, named)
        for name in ("href", "src", "hx-get", "hx-post"):
            if named.get(name) and tag != "use":
                self.links.append(f"{tag} {name}={named[name]}")

    def _control(self, tag: str, named: dict[str, str]) -> None:
        if tag == "form":
            self.forms.append(f"form {named.get('method', 'get').lower()} {named.get('action', '')}")
        if named.get("name") == "csrfmiddlewaretoken" or tag not in ("input", "select", "textarea", "button", "option"):
            return
        states = [state for state in ("checked", "selected", "disabled", "required", "open") if state in named]
        kind = named.get("type", "")
        is_secret = kind == "hidden" and len(named.get("value", "")) > 60
        value = "…" if is_secret else named.get("value", "")
        self.forms.append(
            " ".join(filter(None, ["  " + tag, kind, named.get("name", ""), f"= {value}" if value else "", *states]))
        )
        if tag == "input" and kind != "hidden" and named.get("value"):
            self.line.append(f"[{named['value']}{' *' if 'checked' in named else ''}]")
        if tag == "option":
            self.line.append(" / " + ("*" if "selected" in named else ""))

    def handle_endtag(self, tag: str) -> None:
        if tag in _HIDDEN:
            self.hidden = max(0, self.hidden - 1)
            return
        if tag in ("pre", "textarea"):
            self._whole_lines()
            self.preformatted = max(0, self.preformatted - 1)
        if tag not in _INLINE and tag not in _CELLS:
            self.end_line()

    def handle_data(self, data: str) -> None:
        if self.hidden:
            return
        if self.preformatted:
            self.line.append(data.replace("\n", "\0"))
        else:
            self.line.append(data)

    def _whole_lines(self) -> None:
        for part in "".join(self.line).split("\0"):
            if part.strip():
                self.lines.append(_SPACE.sub(" ", part).rstrip())
        self.line = []


def visible_text(html: str) -> str:
    """What is read on the page, then the addresses it leads to, sorted, and its forms."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    reader.end_line()
    links = sorted(set(reader.links))
    parts = [*reader.lines, "", "-- links --", *links, "", "-- forms --", *reader.forms]
    return "\n".join(part.replace("\0", " ") for part in parts) + "\n"
