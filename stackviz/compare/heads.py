"""The heads of the columns: one per subject, in the order asked."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from stackviz.compare.selection import Subject, query_string
from stackviz.compare.subjects import Loaded, describe


@dataclass(frozen=True, slots=True)
class Head:
    """A subject as the head of its column. `remove_url`: this comparison without it."""

    place: int
    name: str
    title: str
    subtitle: str
    url: str
    remove_url: str

    @property
    def css(self) -> str:
        return f"s{self.place + 1}"


def heads_of(chosen: Sequence[Loaded]) -> tuple[Head, ...]:
    subjects = [loaded.subject for loaded in chosen]
    return tuple(
        Head(
            place=place,
            name=loaded.subject.name,
            title=loaded.title,
            subtitle=describe(loaded),
            url=loaded.url,
            remove_url=query_string(_others(subjects, loaded.subject)),
        )
        for place, loaded in enumerate(chosen)
    )


def _others(subjects: Sequence[Subject], leaving: Subject) -> list[Subject]:
    return [subject for subject in subjects if subject != leaving]


def heading(heads: Sequence[Head]) -> str:
    """`H100 SXM against M3 Max 40-core and dgx-07`."""
    titles = [head.title for head in heads]
    if not titles:
        return _("Compare")
    if len(titles) == 1:
        return titles[0]
    *middle, last = titles[1:]
    if not middle:
        return _("%(first)s against %(last)s") % {"first": titles[0], "last": last}
    return _("%(first)s against %(middle)s and %(last)s") % {
        "first": titles[0],
        "middle": ", ".join(middle),
        "last": last,
    }
