"""The heads of the columns: one per subject, in the order asked."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from stackviz.compare.selection import Address
from stackviz.compare.subjects import Loaded, describe


@dataclass(frozen=True, slots=True)
class Head:
    """A subject as the head of its column.

    `remove_url`: this comparison without it; `base_url`: with factors against it.
    """

    place: int
    name: str
    title: str
    subtitle: str
    url: str
    remove_url: str
    base_url: str

    @property
    def css(self) -> str:
        return f"s{self.place + 1}"


def heads_of(chosen: Sequence[Loaded], address: Address) -> tuple[Head, ...]:
    return tuple(
        Head(
            place=place,
            name=loaded.subject.name,
            title=loaded.title,
            subtitle=describe(loaded),
            url=loaded.url,
            remove_url=address.without(loaded.subject),
            base_url=address.query(base=loaded.subject),
        )
        for place, loaded in enumerate(chosen)
    )


def baseline(heads: Sequence[Head], address: Address) -> Head | None:
    """The column that factors are against: that of the subject asked for, or else the first of these."""
    asked = address.base.name if address.base else ""
    return next((head for head in heads if head.name == asked), heads[0] if heads else None)


def heading(titles: Sequence[str]) -> str:
    """`H100 SXM against M3 Max 40-core and dgx-07`."""
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
