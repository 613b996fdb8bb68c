"""The process one probe runs in: reads its name, runs it, writes the result."""

from importlib import import_module

from stackviz.agent.children import answer_in_file
from stackviz.agent.probing.documents import document_of
from stackviz.report.format.facts.asking import Surroundings

__all__ = ["PROBES", "main"]

PROBES = {
    "system": ("stackviz.agent.probing.system", "probe_system"),
    "python": ("stackviz.agent.probing.python", "probe_python"),
    "nvidia": ("stackviz.agent.probing.nvidia", "probe_nvidia"),
    "tools": ("stackviz.agent.probing.vendor_tools", "probe_vendor_tools"),
    "apple": ("stackviz.agent.probing.apple", "probe_apple"),
    "torch": ("stackviz.agent.probing.torch", "probe_torch"),
    "packages": ("stackviz.agent.probing.packages", "probe_packages"),
}
"""Probe -> where it is. Where two state the same fact, the earlier one counts."""

_HAND_BACK_PARTS = frozenset({"nvidia", "tools", "torch"})
"""Probes that hand back what they have before they ask what may hang or crash: the last part counts."""


def main() -> None:
    with answer_in_file() as (given, hand_back):
        module, function = PROBES[given["probe"]]
        probe = getattr(import_module(module), function)
        parts = [lambda reading: hand_back(document_of(reading) | {"is_part": True})]
        around = Surroundings(within_s=given["within_s"])
        hand_back(document_of(probe(around, *parts[: given["probe"] in _HAND_BACK_PARTS])))


if __name__ == "__main__":
    main()
