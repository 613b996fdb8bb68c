"""What agents say of software and of missing facts, where the text has a place or two modules use it.

A report holds the finished text without its key, so that a page recognises it by what comes before and after the place.
"""

from stackviz.report.format.components import PACKAGE_METADATA

PART_OF_TORCH = "part of torch"
UNNAMED_HYPERVISOR = "unnamed hypervisor"
NO_NVML = "the NVML library, part of the NVIDIA driver, is not installed"
NO_NVML_AND_NO_SMI = f"{NO_NVML}; neither is nvidia-smi"  # `probing/nvidia.py` puts it together
NOT_SET = "{name} is not set"
NO_COMMAND = "{argv} is not installed"
COMMAND_FORBIDDEN = "{argv} may not be run"
OTHER_SYSTEM = "asked on {systems} only"
BUILT_WITHOUT = "this torch was built without {name}"
OLD_BINDING = "this nvidia-ml-py is too old: it has no {name}"
UNKNOWN_FIGURE = "NVML answers {answer}, which stands for unknown"
NO_NVML_VERSION = "NVML does not report its version: {error}"
NO_PROPERTY_LIST = "ioreg prints no property list: {name}"

AGENT_TEXTS = (
    PACKAGE_METADATA,
    PART_OF_TORCH,
    UNNAMED_HYPERVISOR,
    f"{NO_NVML}; nor is nvidia-smi",  # agents before November 2026
    NO_NVML_AND_NO_SMI,
    NOT_SET,
    NO_COMMAND,
    COMMAND_FORBIDDEN,
    OTHER_SYSTEM,
    BUILT_WITHOUT,
    OLD_BINDING,
    UNKNOWN_FIGURE,
    NO_NVML_VERSION,
    NO_PROPERTY_LIST,
)
