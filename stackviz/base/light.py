"""Dataclasses of which one page makes hundreds. Standard library only."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from stackviz.base.backports import dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def light_dataclass(*, slots: bool = False, kw_only: bool = False) -> Callable[[type[T]], type[T]]:
    """`dataclass(frozen=True)` that only the type checker holds to be frozen: made in half the time.

    A frozen dataclass calls `object.__setattr__` for each field. Equal and hashable as a frozen one. For what pages
    make by the hundred (docs/decisions/0008); elsewhere take `dataclass(frozen=True)`.
    """
    options: dict[str, Any] = {"slots": slots, "kw_only": kw_only, "unsafe_hash": True}

    def decorate(cls: type[T]) -> type[T]:
        return dataclass(**options)(cls)

    return decorate
