"""How much English is left on the pages of a running site in Chinese: the share of each page, and the words.

python -m tools.english_left ADDRESS [PATH ...]   ADDRESS of the site (http://127.0.0.1:8000), paths of pages; without
                                                  paths those of PAGES, a machine and a diagnosis
    --words 30                                    how many of the most frequent words are listed
    --most 3                                      fails where a page has more English than that, in per cent

What counts stands in docs/languages.md.
"""

import argparse
import csv
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from html.parser import HTMLParser
from http.cookiejar import CookieJar
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, OpenerDirector, Request, build_opener

from tools.curated_texts import is_in_plain_words

ROOT = Path(__file__).resolve().parent.parent
PAGES = (
    "/",
    "/compare/?a=nvidia-h100-sxm5-80gb&a=apple-m3-max-40",
    "/accelerators/nvidia-h100-sxm5-80gb/",
    "/stacks/apple-metal/",
    "/operators/matmul/",
    "/claims/",
    "/learn/memory-wall/",
    "/learn/the-stack-in-one-call/",
    "/learn/measure-it-right/",
    "/diagnose/",
    "/causes/no-nvidia-driver/",
    "/plan/",
)
PREFIX = "/zh-hans"  # of addresses in Chinese
DIAGNOSED = ROOT / "stackviz/diagnose/example_texts/old-driver.txt"
VOCABULARY = ROOT / "docs/vocabulary.zh.md"
CHARACTERS_A_WORD = 2  # of Chinese
UNSEEN = frozenset({"script", "style", "template", "head", "noscript"})
VERBATIM = frozenset({"code", "pre", "kbd", "samp", "cite", "textarea", "svg-title"})
VERBATIM_CLASSES = frozenset({"mono", "v", "sources"})  # versions; titles and authors of sources
_OF_A_LAB = re.compile(r"(?:/zh-hans)?/machines/(?!add/)[\w-]+/")
_GIVEN_NAME = re.compile(r'<a[^>]* href="(?:/zh-hans)?/machines/(?!add/)[\w-]+/[^"]*"[^>]*>([^<]{2,60})</a>')
_VOID = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
)
_ENGLISH = re.compile(r"[A-Z]?[a-z]+(?:['’][a-z]+)?")
_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_TOKEN = re.compile(r"[A-Za-z0-9_./:@+#$%&=~*^-]+(?:['’][a-z]+)?")


@cache
def untranslated() -> frozenset[str]:
    """What Chinese engineers write in English, in lower case, as the vocabulary lists it."""
    listed = VOCABULARY.read_text(encoding="utf-8").partition("## 保留英文的词")[2]
    return frozenset(re.findall(r"`([a-z]+)`", listed))


@dataclass(frozen=True, slots=True)
class PageWords:
    """`english`: the words by how often they stand there; `chinese`: characters."""

    path: str
    english: Counter[str]
    chinese: int

    @property
    def share(self) -> float:
        """Of all words, 0 to 1."""
        words = self.english.total()
        return words / (words + self.chinese / CHARACTERS_A_WORD) if words else 0.0


class VisibleText(HTMLParser):
    """The text of a page that a reader sees, without what stands there verbatim and titles of sources."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self._left_out: list[str] = []  # elements that are open, from the first that is left out

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _VOID:
            self.parts.append(" ")
        elif self._left_out or _is_left_out(tag, dict(attrs)):
            self._left_out.append(tag)
        else:
            self.parts.append(" ")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._left_out:
            while self._left_out.pop() != tag:
                pass
        self.parts.append(" ")

    def handle_data(self, data: str) -> None:
        if not self._left_out:
            self.parts.append(data)


def _is_left_out(tag: str, attributes: dict[str, str | None]) -> bool:
    """What nobody sees, what is verbatim, and links to sources (`{% source %}` makes them `nofollow`)."""
    classes = (attributes.get("class") or "").split()
    is_source = "nofollow" in (attributes.get("rel") or "").split()
    is_named_by_people = bool(_OF_A_LAB.match(attributes.get("href") or ""))
    is_verbatim = tag in VERBATIM or bool(VERBATIM_CLASSES & set(classes))
    return tag in UNSEEN or is_verbatim or "hidden" in attributes or is_source or is_named_by_people


@cache
def names() -> re.Pattern[str]:
    """Names of the catalogue and the stacks, the longest first."""
    files = ("catalog/data/accelerators.csv", "catalog/data/vendors.csv", "fit/data/models.csv")
    found = {row["name"] for name in files for row in _rows(name)}
    found |= {part for name in found for part in name.split() if part[:1].isupper()}  # M3 Max, in a table of Apple's
    for name in ("components.toml", "stacks.toml"):
        tables = tomllib.loads((ROOT / "stackviz/stacks/data" / name).read_text(encoding="utf-8"))
        named = (str(table["name"]) for table in tables.values() if isinstance(table, dict) and "name" in table)
        found |= {name for name in named if not is_in_plain_words(name)}
    listed = sorted((name for name in found if len(name) > 1), key=len, reverse=True)
    return re.compile(r"(?<!\w)(?:" + "|".join(map(re.escape, listed)) + r")(?!\w)")


def _rows(name: str) -> Iterator[dict[str, str]]:
    with (ROOT / "stackviz" / name).open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


def english_words(text: str) -> Iterator[str]:
    """Words of English: no names, units and identifiers, which have capitals, digits or signs within."""
    for token in _TOKEN.findall(names().sub(" ", text)):
        if token.startswith("--") or any(sign.isdigit() for sign in token):
            continue
        for word in token.strip("./:@+#$%&=~*^-_").split("-"):
            if len(word) > 1 and _ENGLISH.fullmatch(word) and word.lower() not in _uncounted():
                yield word


@cache
def _uncounted() -> frozenset[str]:
    from stackviz.units import UNITS

    units = {part.lower() for unit in UNITS for part in re.findall(r"[A-Za-z]+", str(unit))}
    tables = ROOT / "stackviz/stacks/data/components.toml"
    return untranslated() | units | tomllib.loads(tables.read_text(encoding="utf-8")).keys()


def count_words(path: str, html: str, given_names: Iterable[str] = ()) -> PageWords:
    """`given_names`: of labs and machines, which people chose."""
    parser = VisibleText()
    parser.feed(html)
    text = "".join(parser.parts)
    for name in given_names:
        text = text.replace(name, " ")
    return PageWords(path, Counter(english_words(text)), len(_CHINESE.findall(text)))


class Site:
    """A running site, asked in Chinese."""

    def __init__(self, address: str) -> None:
        self.address = address.rstrip("/")
        self._opener: OpenerDirector = build_opener(HTTPCookieProcessor(CookieJar()))

    def read(self, path: str, form: dict[str, str] | None = None) -> str:
        body = urlencode(form).encode() if form else None
        address = f"{self.address}{PREFIX}{path}"
        request = Request(address, body, {"Referer": address})  # noqa: S310 (an address of one's own)
        with self._opener.open(request, timeout=60) as answer:
            return str(answer.read().decode())


def read_pages(site: Site, paths: Iterable[str]) -> Iterator[PageWords]:
    """The pages, then a machine and a diagnosis where there were no paths."""
    machines = site.read("/machines/")
    names = sorted(set(_GIVEN_NAME.findall(machines)), key=len, reverse=True)
    for path in paths or PAGES:
        yield count_words(path, site.read(path), names)
    if not paths:
        machine = re.search(r'href="(?:/zh-hans)?(/machines/[\w-]+/[\w-]+/)"', machines)
        if machine:
            yield count_words(machine[1], site.read(machine[1]), names)
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', site.read("/diagnose/"))
        form = {"text": DIAGNOSED.read_text(encoding="utf-8"), "csrfmiddlewaretoken": token[1] if token else ""}
        yield count_words("/diagnose/ (pasted)", site.read("/diagnose/", form), names)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("address")
    parser.add_argument("paths", nargs="*")
    parser.add_argument("--words", type=int, default=30)
    parser.add_argument("--most", type=float, default=3.0)
    chosen = parser.parse_args()
    total: Counter[str] = Counter()
    too_many = 0
    for page in read_pages(Site(chosen.address), chosen.paths):
        total += page.english
        too_many += page.share * 100 > chosen.most
        often = ", ".join(f"{word} {count}" for word, count in page.english.most_common(8))
        print(f"{page.share:6.1%}  {page.english.total():5} English  {page.chinese:6} Chinese  {page.path}  {often}")
    print("\n" + ", ".join(f"{word} {count}" for word, count in total.most_common(chosen.words)))
    return 1 if too_many else 0


if __name__ == "__main__":
    sys.exit(main())
