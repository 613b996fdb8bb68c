"""Dumps of one or several machines -> reports, findings and the answer as JSON; names and serials taken out.

Standard library only: the agent diagnoses offline with it, the site online.
"""

from stackviz.report.dumps.answer import answer
from stackviz.report.dumps.machines import DumpedMachine, machines
from stackviz.report.dumps.masking import mask_text

__all__ = ["DumpedMachine", "answer", "machines", "mask_text"]
