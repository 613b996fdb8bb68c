"""Parts of pages: macros of Jinja2 templates, `templates/ROOM/_part.jinja`, one a file (docs/decisions/0006).

Python, a Django template and another part draw the same part with the same named arguments.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from django.conf import settings
from django.template import engines
from django.utils.safestring import SafeString
from jinja2 import Environment
from jinja2.debug import rewrite_traceback_stack

if TYPE_CHECKING:
    from django.template.backends.jinja2 import Jinja2


def render_part(name: str, /, **values: object) -> SafeString:
    """`render_part("diagrams/_box.jinja", placed=…)`: what the macro `draw_box` of that file draws of these values.

    Raises TypeError for an argument that the macro does not have, jinja2.UndefinedError for a name nothing defines.
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
