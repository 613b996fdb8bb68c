"""Are the tools of the driver from the driver that is loaded?"""

from collections.abc import Iterator

from stackviz.base.sentence import say
from stackviz.report.rules.checks.cuda_start import MODULE, NVML_MISMATCH, of_one_driver
from stackviz.report.rules.compatibility import Tables
from stackviz.report.rules.look import Look
from stackviz.report.rules.rule import Conclusion, RuleSet, Severity

RULES = RuleSet(order=24)


@RULES.rule(
    "smi-of-another-driver",
    "nvidia-driver",
    asks="nvidia-smi is from the loaded driver",
    worst=Severity.WARNING,
    source=NVML_MISMATCH,
)
def check_smi_version(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    """Under WSL the tool is of Linux and the driver is Windows': there they differ by design."""
    if look.platform != "linux" or look.get("os.wsl") or look.get(MODULE):  # with the module: nvml-mismatch
        return
    driver, tool = look.get("nvidia.driver_version"), look.get("nvidia.nvml_version")
    if not driver or not tool or of_one_driver(driver, tool):
        return
    yield Conclusion(
        severity=Severity.WARNING,
        title=say("nvidia-smi is from driver {tool}, and the loaded driver is {driver}", tool, driver),
        explanation=say(
            "Packages of two drivers are mixed. It may work for now; programs that load a library of the other driver "
            "fail with a version mismatch, and nvidia-smi lacks what the newer driver has."
        ),
        advice=say(
            "Install nvidia-smi and the libraries from the packages of the loaded driver, and remove the others; "
            "dpkg -l '*nvidia*' or rpm -qa '*nvidia*' lists them. Then reboot. To check: nvidia-smi prints the same "
            "version twice."
        ),
    )
