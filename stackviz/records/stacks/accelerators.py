"""Which described stack an accelerator runs: that of its vendor, or one that only certain accelerators run.

`accelerators` of stacks.toml holds the patterns; read from the file, as terms and memory models are.
"""

import tomllib
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Protocol, TypeVar

from stackviz.records.stacks.files import DATA

FILE = "stacks.toml"


class StackLike(Protocol):
    @property
    def slug(self) -> str: ...
    @property
    def vendor(self) -> str: ...


_Stack = TypeVar("_Stack", bound=StackLike)


def stacks_of_accelerator(stacks: Iterable[_Stack], vendor: str, accelerator: str = "") -> list[_Stack]:
    """Those of these stacks that the accelerator runs, in their order; the first is the one it is drawn on.

    A stack made for certain accelerators is the only one of those, and none of the others. Without an accelerator all
    of the vendor's.
    """
    of_vendor = [stack for stack in stacks if stack.vendor == vendor]
    if not accelerator:
        return of_vendor
    made_for_it = [stack for stack in of_vendor if _is_made_for(stack.slug, accelerator)]
    return made_for_it or [stack for stack in of_vendor if not accelerator_patterns().get(stack.slug)]


def _is_made_for(stack: str, accelerator: str) -> bool:
    return any(fnmatchcase(accelerator, pattern) for pattern in accelerator_patterns().get(stack, ()))


@lru_cache(maxsize=1)
def accelerator_patterns() -> Mapping[str, tuple[str, ...]]:
    """Stack -> patterns of the slugs of the only accelerators that run it; stacks of any accelerator are left out."""
    stacks = tomllib.loads((DATA / FILE).read_text(encoding="utf-8"))
    return {slug: tuple(stack["accelerators"]) for slug, stack in stacks.items() if "accelerators" in stack}
