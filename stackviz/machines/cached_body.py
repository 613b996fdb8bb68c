"""The rendered body of a machine's page, cached until something on it changes: rendering it costs more than everything
else.

What it shows comes from the machine's reports, the catalogue (names of sheets, published peaks) and the described
stacks; the key names the state of each.
"""

from django.utils.safestring import SafeString

from stackviz.catalog.models import CatalogueEdition
from stackviz.machines.page import MachinePage, report_body
from stackviz.stacks.models import Edition
from stackviz.web.parts import cached_html, render_part

# A key says nothing of older reports that are read again by a newer interpreter: what that changes may show this late.
CACHE_S = 60


def drawn_body(page: MachinePage) -> SafeString:
    """The body as HTML; "" before a report was read. Two queries while nothing moved."""
    if page.latest is None:
        return SafeString("")
    state = ("machine", page.machine.pk, page.seen, page.latest, CatalogueEdition.current(), Edition.current())
    return cached_html(state, lambda: render_part("machines/_body.jinja", body=report_body(page.machine)), CACHE_S)
