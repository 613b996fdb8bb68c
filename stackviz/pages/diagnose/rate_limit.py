"""How often one client may save a private link."""

from stackviz.web.rate_limit import RateLimit

LINKS = RateLimit("links", "LINKS_PER_HOUR", 3600)
