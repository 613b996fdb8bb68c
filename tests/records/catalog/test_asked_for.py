"""Which accelerators stand first where no order is asked for."""

from stackviz.records.catalog.asked_for import by_request, most_requested, request_places
from stackviz.records.catalog.queries import public_catalogue


def test_the_most_asked_for_come_first_then_the_newest(curated):
    rows = by_request(public_catalogue())
    slugs = [row.slug for row in rows]
    first = [slug for slug in most_requested() if slug in slugs]
    assert slugs[: len(first)] == first
    others = slugs[len(first) :]
    assert others.index("nvidia-geforce-rtx-5070") < others.index("nvidia-k80")
    assert len(slugs) == len(set(slugs)) == len(public_catalogue().accelerators)


def test_several_vendors_are_among_the_first_twelve(curated):
    catalogue = public_catalogue()
    first = [catalogue.by_pk[pk].vendor.slug for pk in request_places(catalogue)][:12]
    assert {"nvidia", "apple", "amd"} <= set(first)
