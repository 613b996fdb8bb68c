"""How to cite a comparison: a frozen address, and a line for a paper, a text and a README. Pure; no database."""

import re
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _

from stackviz.web.bibtex import bibtex_text


@dataclass(frozen=True, slots=True)
class ComparisonCitation:
    """One way to write it: the name of the form, and the text to copy."""

    form: str
    text: str


def citations(title: str, address: str, at: datetime) -> tuple[ComparisonCitation, ...]:
    """The comparison `title` as it stood at `at`, found at `address`, which will show the same again."""
    day = at.strftime("%Y-%m-%d")
    moment = at.strftime("%Y-%m-%d %H:%M:%S UTC")
    return (
        ComparisonCitation("BibTeX", _bibtex(title, address, at, moment)),
        ComparisonCitation(
            _("Plain text"),
            _("accelweb, “%(title)s”: published figures as of %(moment)s, %(address)s")
            % {"title": title, "moment": moment, "address": address},
        ),
        ComparisonCitation("Markdown", f"[{_markdown(title)}]({address}) (accelweb, {day})"),
    )


def _bibtex(title: str, address: str, at: datetime, moment: str) -> str:
    key = f"accelweb-{re.sub(r'[^a-z0-9]+', '-', title.lower()).strip('-')[:60]}-{at:%Y%m%d}"
    return (
        f"@misc{{{key},\n"
        f"  title = {{{{{bibtex_text(title)}}}}},\n"
        "  author = {{accelweb}},\n"
        f"  year = {{{at:%Y}}},\n"
        f"  note = {{Published figures as of {moment}}},\n"
        f"  howpublished = {{\\url{{{address}}}}}\n"
        "}"
    )


def _markdown(text: str) -> str:
    return re.sub(r"([\\\[\]*_`<>])", r"\\\1", text)
