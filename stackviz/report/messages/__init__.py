"""Error messages that programs print: how each reads, what it proves about the machine, what causes it.

One table for everybody: importers find the messages in a text, rules explain those whose cause no other rule finds,
pages and the search show them. Standard library only.
"""

from stackviz.report.messages.registry import BY_KEY, FAMILIES, SYMPTOMS
from stackviz.report.messages.symptom import BETWEEN_QUOTES, KERNEL_LOG, Cause, Family, Symptom

__all__ = ["BETWEEN_QUOTES", "BY_KEY", "FAMILIES", "KERNEL_LOG", "SYMPTOMS", "Cause", "Family", "Symptom"]
