"""What a search offers to put into another page: a comparison, a plan, a question about models."""

from dataclasses import dataclass

from stackviz.pages.search.answers import ShownHit

MOST_OFFERED = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A thing that was found. `url`: of the page with it; `kind`: "" where all are of one; `line`: what it is."""

    title: str
    url: str
    kind: str
    line: str


def offer_of(shown: ShownHit, url: str, kind: str = "") -> Offer:
    """The hit with another address; its line is the other name that matched, if one did."""
    return Offer(title=shown.title, url=url, kind=kind, line=shown.name or shown.line)
