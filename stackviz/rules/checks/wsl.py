"""Linux inside Windows: what is normal there and looks broken elsewhere."""

from collections.abc import Iterator

from stackviz.rules.compatibility import RuleSource, Tables
from stackviz.rules.finding import Conclusion, Severity
from stackviz.rules.look import Look
from stackviz.rules.rule import RuleSet

RULES = RuleSet(order=90)

WSL_GUIDE = RuleSource(
    "cuda-wsl-user-guide", "CUDA on WSL User Guide", "https://docs.nvidia.com/cuda/wsl-user-guide/index.html"
)
LINUX_DRIVER = RuleSource(
    "wsl-issue-9092",
    "microsoft/WSL issue 9092: a Linux driver inside WSL",
    "https://github.com/microsoft/WSL/issues/9092",
)
_WINDOWS_LIBRARIES = "/usr/lib/wsl/"


@RULES.rule("wsl2-probe", "linux", asks="this Linux runs inside Windows", worst=Severity.NOTE, source=WSL_GUIDE)
def check_wsl(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    version = look.get("os.wsl")
    if version is None:
        return
    yield Conclusion(
        severity=Severity.NOTE,
        title=f"This Linux runs inside Windows ({version}); the NVIDIA driver is the Windows one",
        explanation=(
            "There is no nvidia kernel module and no /dev/nvidia0 here, and that is correct: the card is reached "
            "through /dev/dxg and the libraries in /usr/lib/wsl/lib."
        ),
        advice=(
            "Update the driver in Windows; never install a Linux driver inside WSL, because it hides the correct "
            "libcuda."
        ),
    )


def _has_trouble(look: Look) -> bool:
    """Whether CUDA fails although a card is there: only then it matters which libcuda is found."""
    code = look.number("cuda.init_code")
    return bool(code) or (bool(look.cards("nvidia")) and look.is_true("cuda.available") is False)


@RULES.rule(
    "wsl2-linux-driver",
    "cuda-driver-api",
    asks="libcuda is the one from Windows",
    worst=Severity.BROKEN,
    source=LINUX_DRIVER,
    needs=("cuda-driver-api", "nvidia-driver"),
)
def check_wsl_driver(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    if look.get("os.wsl") is None:
        return
    path = look.get("cuda.libcuda_path")
    if path is None:
        if look.states_none("cuda.libcuda_path") or look.states_none("torch.cuda_version") or not _has_trouble(look):
            return
        path = look.need("cuda.libcuda_path")
    if path.startswith(_WINDOWS_LIBRARIES):
        yield Conclusion(severity=Severity.FITS, title="libcuda is the one that Windows provides")
        return
    if look.starts_cuda:
        yield Conclusion(
            severity=Severity.NOTE,
            title=f"Programs load {path}, not the libcuda in {_WINDOWS_LIBRARIES}, but CUDA starts",
            explanation=(
                "In a container the Windows library has another path; a Linux driver's own library would not start."
            ),
            advice="Nothing to do as long as CUDA starts.",
        )
        return
    yield Conclusion(
        severity=Severity.BROKEN,
        title=f"A Linux driver hides the Windows driver: programs load {path}",
        explanation=(
            f"Inside WSL only the libcuda in {_WINDOWS_LIBRARIES} reaches the card; any other, from a Linux driver "
            "or a toolkit stub, finds no kernel module to talk to."
        ),
        advice=(
            "Remove the Linux driver (sudo apt purge 'nvidia-driver-*' 'libnvidia-compute-*'), and remove folders "
            "named stubs from LD_LIBRARY_PATH."
        ),
    )
