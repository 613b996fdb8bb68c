"""The CUDA versions that a release of torch was published for, and the one that pip takes by itself."""

from stackviz.report.rules.compatibility import Requirement, Tables, computed_once
from stackviz.report.rules.versions import numbers

__all__ = ["NO_CUDA", "default_cuda", "default_wheels", "published_cudas"]

NO_CUDA = "none"  # what a row says of a wheel for the processor


@computed_once
def published_cudas(tables: Tables, torch: str) -> tuple[str, ...]:
    """The CUDA versions this release of torch was published for, newest first."""
    rows = tables.rows("pytorch", "offers", "cuda-runtime")
    published = [cuda for row in rows if numbers(row.version) == numbers(torch) for cuda in row.values.split()]
    return tuple(sorted(published, key=numbers, reverse=True))


@computed_once
def default_wheels(tables: Tables, version: str) -> dict[str, Requirement]:
    """Platform -> what says which CUDA the wheel has that pip takes by itself; `values` NO_CUDA for none."""
    rows = (row for row in tables.rows("pytorch", "ships", "cuda-runtime") if row.platform and not row.variant)
    return {row.platform: row for row in rows if numbers(row.version) == numbers(version)}


def default_cuda(tables: Tables, version: str, platform: str) -> str:
    """The CUDA of the wheel that pip takes by itself: "13.0"; "" for none."""
    row = default_wheels(tables, version).get(platform)
    return "" if row is None or row.values == NO_CUDA else row.values
