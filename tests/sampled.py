"""What goes over all data: a quick run looks at a part of it, the same each time, a slow run at all."""

from random import Random

import pytest


def sampled(number: int) -> pytest.MarkDecorator:
    """The test gets `sample(items)`: so many of them, or in the slow tier all, in order."""
    some = pytest.param(lambda items: Random("accelweb").sample(sorted(items), number), id="some")
    return pytest.mark.parametrize("sample", [some, pytest.param(sorted, id="all", marks=pytest.mark.slow)])
