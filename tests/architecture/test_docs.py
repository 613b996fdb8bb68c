"""What the documentation points at exists."""

import re

from tests.live import ROOT

PAGES = sorted(path.relative_to(ROOT).as_posix() for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
SOURCES = [
    *ROOT.glob("stackviz/**/*.py"),
    *ROOT.glob("accelweb/*.py"),
    *ROOT.glob("static/**/*.js"),
    *ROOT.glob("templates/**/*.html"),
]


def links_of(page: str) -> list[str]:
    text = (ROOT / page).read_text()
    return [link.partition("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in link]


def test_every_link_inside_the_repository_leads_somewhere():
    links = {(page, link) for page in PAGES for link in links_of(page) if link}
    assert len(links) > 100
    assert [(page, link) for page, link in sorted(links) if not ((ROOT / page).parent / link).exists()] == []


def test_every_document_the_code_mentions_exists():
    # After a slash it is part of an address, in a repository that is not ours.
    named = {(path, name) for path in SOURCES for name in re.findall(r"(?<![\w/])docs/[\w/-]+\.md", path.read_text())}
    assert len(named) > 5
    assert [f"{path.relative_to(ROOT)}: {name}" for path, name in sorted(named) if not (ROOT / name).exists()] == []


def test_every_room_says_what_is_in_it():
    table = (ROOT / "docs/rooms.md").read_text().partition("| room |")[2].partition("<!-- end -->")[0]
    rows = dict(re.findall(r"^\| `([\w/]+)` \| (.*) \|$", table, re.MULTILINE))
    assert len(rows) > 20
    assert [room for room, purpose in rows.items() if not purpose.strip()] == []
