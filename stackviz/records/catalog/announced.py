"""Which products are announced and cannot be had yet: a source gives the planned date, none says that they came out."""

from collections.abc import Iterable

from stackviz.records.catalog.models import Accelerator, SpecValue
from stackviz.records.catalog.queries import PublicCatalogue

DATE = "release_date"
PLANNED = "event=planned"
CAME_OUT = frozenset({"", "event=launched", "event=shipped"})


def planned_date(dates: Iterable[SpecValue]) -> str:
    """When a product with these dates of release is to come out, as its source prints it; "" if it is out."""
    by_condition = {date.condition: date.value for date in dates}
    return "" if by_condition.keys() & CAME_OUT else by_condition.get(PLANNED, "")


def is_announced(accelerator: Accelerator, catalogue: PublicCatalogue) -> bool:
    """Whether it is announced only: what cannot be had takes no place and is no "largest of its kind"."""
    return bool(planned_date(catalogue.preferred(accelerator.pk, DATE)))
