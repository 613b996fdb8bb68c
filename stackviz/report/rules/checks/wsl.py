"""Linux inside Windows: what is normal there and looks broken elsewhere."""

from collections.abc import Iterator

from stackviz.base.sentence import say
from stackviz.report.rules.checks.branches import newest_driver
from stackviz.report.rules.checks.places import is_wsl1
from stackviz.report.rules.compatibility import RuleSource, Tables
from stackviz.report.rules.look import Look
from stackviz.report.rules.rule import Conclusion, RuleSet, Severity
from stackviz.report.rules.versions import numbers

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
    if version is None or is_wsl1(look):
        return
    number = version.removeprefix("WSL")
    yield Conclusion(
        severity=Severity.NOTE,
        title=say("This Linux runs inside Windows (WSL{number}); the NVIDIA driver is the Windows one", number),
        explanation=say(
            "There is no nvidia kernel module and no /dev/nvidia0 here, and that is correct: the card is reached "
            "through /dev/dxg and the libraries in /usr/lib/wsl/lib."
        ),
        advice=say(
            "A newer driver is installed in Windows; never install one inside WSL, because it hides the correct "
            "libcuda."
        ),
    )


@RULES.rule(
    "wsl1-no-gpu",
    "linux",
    asks="this Windows Subsystem for Linux offers a GPU",
    worst=Severity.BROKEN,
    source=RuleSource(
        "wsl-compare-versions",
        "Microsoft, Comparing WSL versions",
        "https://learn.microsoft.com/en-us/windows/wsl/compare-versions",
    ),
    needs=("linux", "nvidia-driver"),
)
def check_wsl1(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    if is_wsl1(look):
        yield Conclusion(
            severity=Severity.BROKEN,
            title=say("This is WSL 1, which offers no GPU to Linux programs"),
            explanation=say(
                "WSL 1 translates system calls and has no Linux kernel: there is no /dev/dxg, and no driver that "
                "could be installed in it would work."
            ),
            advice=say(
                "In PowerShell: wsl --set-version <distribution> 2 (it converts the distribution, whose programs "
                "stop; export it first with wsl --export; to undo: wsl --set-version <distribution> 1). That needs "
                "Windows 10 21H2 (build 19044) or Windows 11, and NVIDIA's driver in Windows. To check: uname -r ends "
                "in WSL2"
            ),
        )


@RULES.rule(
    "wsl2-old-windows",
    "windows",
    asks="this Windows offers CUDA in WSL2",
    worst=Severity.BROKEN,
    source=RuleSource(
        "windows-gpu-in-wsl",
        "Microsoft, Enable NVIDIA CUDA on WSL",
        "https://learn.microsoft.com/en-us/windows/ai/directml/gpu-cuda-in-wsl",
    ),
    needs=("linux", "windows"),
)
def check_old_windows(look: Look, tables: Tables) -> Iterator[Conclusion]:
    build = _windows_build(look)
    if look.get("os.wsl") is None or is_wsl1(look) or not build or build >= _FIRST_WITH_CUDA or look.starts_cuda:
        return
    yield Conclusion(
        severity=Severity.BROKEN,
        title=say(
            "Windows build {build} is too old for CUDA in WSL2, which begins with {first_with_cuda} (21H2)",
            build,
            _FIRST_WITH_CUDA,
        ),
        explanation=say("Older builds do not hand the card to WSL2: CUDA finds no device, or reports an old driver."),
        advice=say(
            "Update Windows to Windows 10 21H2 (build 19044) or newer, or to Windows 11, then install in Windows "
            "{driver}, and run: wsl --update. Windows restarts, which ends every program. To check: nvidia-smi in WSL; "
            "install no driver there",
            newest_driver(look, tables),
        ),
    )


_FIRST_WITH_CUDA = 19044


def _windows_build(look: Look) -> int | None:
    """`10.0.19042.867` -> 19042. None where the build is not told or is not one of Windows 10 or 11."""
    parts = numbers(look.get("os.build") or "")
    return parts[2] if len(parts) > 2 and parts[:2] == (10, 0) else None


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
    if look.get("os.wsl") is None or is_wsl1(look):
        return
    path = look.get("cuda.libcuda_path")
    if path is None:
        if look.states_none("cuda.libcuda_path") or look.states_none("torch.cuda_version") or not _has_trouble(look):
            return
        path = look.need("cuda.libcuda_path")
    if path.startswith(_WINDOWS_LIBRARIES):
        yield Conclusion(severity=Severity.FITS, title=say("libcuda is the one that Windows provides"))
        return
    if look.starts_cuda:
        yield Conclusion(
            severity=Severity.NOTE,
            title=say(
                "Programs load {path}, not the libcuda in {windows_libraries}, but CUDA starts",
                path,
                _WINDOWS_LIBRARIES,
            ),
            explanation=say(
                "In a container the Windows library has another path; a Linux driver's own library would not start."
            ),
            advice=say("Nothing to do as long as CUDA starts."),
        )
        return
    yield Conclusion(
        severity=Severity.BROKEN,
        title=say("A Linux driver hides the Windows driver: programs load {path}", path),
        explanation=say(
            "Inside WSL only the libcuda in {windows_libraries} reaches the card; any other, from a Linux driver or a "
            "toolkit stub, finds no kernel module to talk to.",
            _WINDOWS_LIBRARIES,
        ),
        advice=say(
            "Remove the Linux driver (sudo apt purge 'nvidia-driver-*' 'libnvidia-compute-*'), and remove folders "
            "named stubs from LD_LIBRARY_PATH."
        ),
    )
