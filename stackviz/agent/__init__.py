"""The agent: reads a lab machine, measures it, and sends what it found. Runs on lab machines, never on the site.

May import: wire, importers, rules, units and the standard library; pynvml and torch only inside the functions that
need them. Prose: docs/agent.md.
"""

__version__ = "0.1.0"
AGENT_NAME = "accelweb-agent"
