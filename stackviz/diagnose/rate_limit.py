"""How often one client may save a private link."""

from stackviz.web.rate_limit import Pace

LINKS = Pace("links", "LINKS_PER_HOUR", 3600)
