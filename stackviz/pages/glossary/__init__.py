"""The words a newcomer may not know, a few sentences each, with sources. Text only.

A "?" beside a term on any page leads here: `{% help "dense" %}` -> /learn/#dense. A test holds that every anchor used
in a template exists. Terms that are the site's own need no source; everything else names one.
"""

from collections.abc import Sequence

from stackviz.pages.glossary.chips import CHIPS
from stackviz.pages.glossary.figures import FIGURES
from stackviz.pages.glossary.machines import MACHINES
from stackviz.pages.glossary.model_memory import MODEL_MEMORY
from stackviz.pages.glossary.number_types import TYPES
from stackviz.pages.glossary.stacks import MEASURING, STACKS
from stackviz.pages.glossary.terms import Chapter, Term

__all__ = ["CHAPTERS", "Chapter", "Term"]

CHAPTERS: Sequence[Chapter] = (FIGURES, TYPES, CHIPS, MACHINES, MODEL_MEMORY, STACKS, MEASURING)
