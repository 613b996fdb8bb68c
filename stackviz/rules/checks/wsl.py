"""Linux inside Windows: what is normal there and looks broken elsewhere."""

from collections.abc import Iterator

from stackviz.rules.compatibility import Source, Tables
from stackviz.rules.finding import Severity, Verdict
from stackviz.rules.look import Look
from stackviz.rules.rule import Rule

WSL_GUIDE = Source(
    "cuda-wsl-user-guide", "CUDA on WSL User Guide", "https://docs.nvidia.com/cuda/wsl-user-guide/index.html"
)


def check_wsl(look: Look, _tables: Tables) -> Iterator[Verdict]:
    version = look.get("os.wsl")
    if version is None:
        return
    yield Verdict(
        Severity.NOTE,
        f"This Linux runs inside Windows ({version}); the NVIDIA driver is the Windows one",
        "There is no nvidia kernel module and no /dev/nvidia0 here, and that is right: the card is reached through "
        "/dev/dxg and the libraries in /usr/lib/wsl/lib.",
        "Update the driver in Windows; never install a Linux driver inside WSL, it hides the right libcuda.",
    )


RULES = (Rule("wsl2-probe", "linux", "this Linux runs inside Windows", WSL_GUIDE, check_wsl),)
