"""Parts of pages: macros of Jinja2 templates, `templates/ROOM/_part.jinja`, one a file (docs/decisions/0006).

Python, a Django template and another part draw the same part with the same named arguments.
What was drawn may be cached: such a part may not contain a request, a user or a token.
"""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, cast

from django.conf import settings
from django.core.cache import cache
from django.template import engines
from django.urls import get_script_prefix
from django.utils.safestring import SafeString
from django.utils.translation import get_language
from jinja2 import Environment
from jinja2.debug import rewrite_traceback_stack

if TYPE_CHECKING:
    from django.template.backends.jinja2 import Jinja2

_is_anew: ContextVar[bool] = ContextVar("rendering_anew", default=False)


def render_part(name: str, /, **values: object) -> SafeString:
    """Return what the macro `draw_box` of a file draws: `render_part("diagrams/_box.jinja", placed=…)`.

    Raise TypeError for an argument that the macro does not have, jinja2.UndefinedError for a name or an attribute that
    does not exist.
    """
    try:
        return SafeString(macro(name)(**values))  # its template escaped every value
    except Exception:
        rewrite_traceback_stack()  # so that it names the lines of templates
        raise


def macro(name: str) -> Callable[..., str]:
    """The macro that gives a template of a part its name."""
    template = _environment().get_template(name)
    # A module keeps the parts it imports: while templates are worked on, it is made anew each time.
    module = template.make_module() if settings.DEBUG else template.module
    draw: Callable[..., str] = getattr(module, "draw" + name.rpartition("/")[2].removesuffix(".jinja"))
    return draw


def _environment() -> Environment:
    return cast("Jinja2", engines["jinja2"]).env


@contextmanager
def rendering_anew() -> Iterator[None]:
    """What is cached is rendered again, and cached, by what is done inside."""
    before = _is_anew.set(True)
    try:
        yield
    finally:
        _is_anew.reset(before)


def cached_html(state: tuple[object, ...], make: Callable[[], str], seconds: int) -> SafeString:
    """The HTML that `make` renders, from the cache where it has been rendered for this state, language and version.

    `state` must change with whatever the part shows; a change that it misses shows after `seconds` at the latest.
    """
    (html,) = cached_parts(state, lambda: (make(),), seconds)
    return html


def cached_parts(
    state: tuple[object, ...], make: Callable[[], tuple[str, ...]], seconds: int
) -> tuple[SafeString, ...]:
    """Several pieces of HTML that are worked out together, cached together: as `cached_html`."""
    if settings.DEBUG:  # templates are being worked on
        return tuple(SafeString(html) for html in make())
    named = repr((state, get_language(), get_script_prefix(), settings.VERSION))
    key = "kept-" + hashlib.blake2b(named.encode(), digest_size=16).hexdigest()
    parts: tuple[str, ...] | None = None if _is_anew.get() else cache.get(key)
    if parts is None:
        parts = tuple(map(str, make()))
        cache.set(key, parts, seconds)
    return tuple(SafeString(html) for html in parts)  # a template escaped every value in them
