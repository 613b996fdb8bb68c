"""The agent: reads a lab machine, measures it, and sends what it found. Runs on lab machines, never on the site.

Torch and pynvml are imported only inside the functions that need them. Manual: docs/agent.md.
"""

__version__ = "0.1.0"
AGENT_NAME = "accelweb-agent"
AGENT_PACKAGE = "accelweb_agent"  # of the wheel, which imports from it
