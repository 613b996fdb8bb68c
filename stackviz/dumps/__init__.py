"""Dumps of one or several machines -> reports, findings and the answer as JSON; names and serials taken out.

Standard library only: the agent diagnoses offline with it, the site online. May import: importers, rules, wire, units.
"""

from stackviz.dumps.machines import DumpedMachine, machines

__all__ = ["DumpedMachine", "machines"]
