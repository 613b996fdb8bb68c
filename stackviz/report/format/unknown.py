"""What a report states that this version does not understand: held within bounds, and listed by path."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from stackviz.report.format.decode import check_tree
from stackviz.report.format.limits import LIMITS, ReportError
from stackviz.report.format.objects import Container, Object

__all__ = ["check_unknown", "unknown_fields"]


def check_unknown(kind: Object, report: Any) -> None:  # noqa: ANN401 (what `kind` reads)
    """Refuse unknown fields that hold too many values together, or values that are too deep or cannot be stored.

    They are counted before they are looked at: four megabytes of zeros are a few kilobytes on the way here.
    """
    left = LIMITS.unknown_values
    for path, depth, extra in _extras(kind, report, "", 1):
        for name, value in extra.items():
            left -= _count(value, left)
            if left < 0:
                problem = f"brings the values inside unknown fields to over {LIMITS.unknown_values}"
                raise ReportError(f"{path}{name}", problem)
            check_tree(value, f"{path}{name}", depth + 1)


def _extras(kind: Object, item: Any, path: str, depth: int) -> Iterator[tuple[str, int, Mapping[str, Any]]]:  # noqa: ANN401
    """(path with its dot, depth, unknown fields) of each object that has some; the report itself has depth 1."""
    if item.extra:
        yield path, depth, item.extra
    for name, container in kind.containers.items():
        inner = container.object
        for key, value in container.items(getattr(item, name)):
            if value.extra or inner.containers:
                inner_path = f"{path}{name}{container.label.format(key)}."
                yield from _extras(inner, value, inner_path, depth + container.levels)


def _count(value: object, most: int) -> int:
    """How many values there are, this one included; the count stops above `most`."""
    count, waiting = 1, [value]
    while waiting:
        container = waiting.pop()
        inner: Collection[Any] = ()
        if isinstance(container, dict):
            inner = container.values()
        elif isinstance(container, list | tuple):
            inner = container
        count += len(inner)
        if count > most:
            break
        waiting.extend(item for item in inner if isinstance(item, dict | list | tuple))
    return count


def unknown_fields(kind: Object, report: Any) -> tuple[str, ...]:  # noqa: ANN401
    """Paths of fields, facts, conditions and components that are not known here, at most LIMITS.unknown_listed.

    Of a field that many items of one list share only the first path is listed: `results[0].fan_rpm` means
    every result that has one. When more are left, the last line counts them.
    """
    first: dict[tuple[str, str], str] = {}
    for group, path, name in _unknown(kind, report, "", ""):
        first.setdefault((group, name), f"{path}{name}")
    paths = list(first.values())
    if len(paths) <= LIMITS.unknown_listed:
        return tuple(paths)
    listed = paths[: LIMITS.unknown_listed - 1]
    return (*listed, f"... and {len(paths) - len(listed)} more")


Unknown = tuple[str, str, str]
"""A group of like places, this place with its separator, the name that is not understood there."""


def _unknown(kind: Object, item: Any, path: str, group: str) -> Iterator[Unknown]:  # noqa: ANN401
    """What is not understood in one object and in the objects below it, in the order of the format."""
    if item.extra:
        yield from _named(group, path, item.extra)
    for field in kind.open_fields:
        value, known = getattr(item, field.name), field.kind.known
        is_text, is_container = isinstance(value, str), isinstance(field.kind, Container)
        if known and not is_container and (value in known if is_text else value.keys() <= known.keys()):
            continue  # nearly always, and a report has hundreds of fields
        inner_path, inner_group = f"{path}{field.name}", f"{group}.{field.name}".lstrip(".")
        if known:
            separator, names = ("=", {value}) if is_text else (".", value.keys())
            yield from _named(inner_group, f"{inner_path}{separator}", names - known.keys())
        if isinstance(container := field.kind, Container):
            for key, inner in container.items(value):
                label = f"{inner_path}{container.label.format(key)}."
                yield from _unknown(container.object, inner, label, inner_group + container.group)


def _named(group: str, path: str, names: Iterable[str]) -> Iterator[Unknown]:
    return ((group, path, name) for name in sorted(names))
