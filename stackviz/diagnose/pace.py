"""How often one client may have something diagnosed, and saved."""

from stackviz.web.pace import Pace

DIAGNOSES = Pace("diagnoses", "DIAGNOSES_PER_MINUTE", 60)
LINKS = Pace("links", "LINKS_PER_HOUR", 3600)
