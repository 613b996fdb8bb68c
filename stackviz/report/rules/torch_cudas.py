"""The CUDA versions that a release of torch was published for, and the one that pip takes by itself."""

from stackviz.report.rules.compatibility import Tables, computed_once
from stackviz.report.rules.versions import numbers

__all__ = ["default_cuda", "published_cudas"]


@computed_once
def published_cudas(tables: Tables, torch: str) -> tuple[str, ...]:
    """The CUDA versions this release of torch was published for, newest first."""
    rows = tables.rows("pytorch", "offers", "cuda-runtime")
    published = [cuda for row in rows if numbers(row.version) == numbers(torch) for cuda in row.values.split()]
    return tuple(sorted(published, key=numbers, reverse=True))


@computed_once
def default_cuda(tables: Tables, version: str, platform: str) -> str:
    """The CUDA of the wheel that pip takes by itself: "13.0"; "" for none."""
    rows = (row for row in tables.rows("pytorch", "ships", "cuda-runtime", platform=platform) if row.platform)
    versions = (row.values for row in rows if numbers(row.version) == numbers(version) and not row.variant)
    cuda = next(versions, "")
    return "" if cuda == "none" else cuda
