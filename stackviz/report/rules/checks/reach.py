"""Cards that programs cannot reach: lost, closed, shared out without CUDA, not passed to the container."""

import re
from collections.abc import Iterator

from stackviz.base.sentence import say
from stackviz.report.rules.checks.branches import newest_driver
from stackviz.report.rules.checks.grouping import indexes, named
from stackviz.report.rules.checks.places import REBOOT, why_container
from stackviz.report.rules.compatibility import RuleSource, Tables
from stackviz.report.rules.look import Look
from stackviz.report.rules.rule import Conclusion, RuleSet, Severity

RULES = RuleSet(order=15)

XID = RuleSource("nvidia-xid-errors", "NVIDIA, Xid errors", "https://docs.nvidia.com/deploy/xid-errors/")
NVIDIA_SMI = RuleSource(
    "nvidia-smi-manual", "nvidia-smi, manual page", "https://docs.nvidia.com/deploy/nvidia-smi/index.html"
)
VGPU = RuleSource(
    "nvidia-vgpu-cuda",
    "NVIDIA vGPU software, CUDA and OpenCL support",
    "https://docs.nvidia.com/vgpu/latest/grid-vgpu-user-guide/index.html",
)
LIBCUDA = RuleSource(
    "wsl-issue-11589",
    "microsoft/WSL issue 11589: CUDA Version: ERR! in nvidia-smi",
    "https://github.com/microsoft/WSL/issues/11589",
)
TOOLKIT = RuleSource(
    "nvidia-container-toolkit-docker",
    "NVIDIA Container Toolkit, running a sample workload",
    "https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/sample-workload.html",
)
NVML_HANGS = RuleSource(
    "open-gpu-kernel-modules-971",
    "NVIDIA/open-gpu-kernel-modules issue 971: nvidia-smi hangs after 66 days",
    "https://github.com/NVIDIA/open-gpu-kernel-modules/issues/971",
)
NVML_CRASHES = RuleSource(
    "wsl-11277",
    "microsoft/WSL issue 11277: segmentation fault in NVML under WSL 2",
    "https://github.com/microsoft/WSL/issues/11277",
)
_LOST = ("fallen off the bus", "gpu is lost", "unable to determine the device handle")
_PROFILE = re.compile(r"-\d{1,3}(?:-\d{1,3})?[AB]$")  # of a virtual GPU: -4Q and -8C have CUDA, -2B and -1A have none


@RULES.rule("nvml-hangs", "nvidia-driver", asks="NVML answers in time", worst=Severity.WARNING, source=NVML_HANGS)
def check_nvml_hangs(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    if "timed out" not in (look.get("nvidia.nvml_error") or ""):
        return
    yield Conclusion(
        severity=Severity.WARNING,
        title=say("NVML did not answer in time: the NVIDIA driver starts slowly, or hangs"),
        explanation=say(
            "Without persistence mode the driver starts its cards anew for each program, which takes seconds with "
            "many of them. If it hangs, nvidia-smi does too, and so does what monitors cards or starts containers "
            "with them: a card or its firmware (GSP) that no longer answers holds the driver, some releases after "
            "weeks."
        ),
        advice=say(
            "nvidia-smi: if it ends after some seconds, turn on persistence mode (sudo systemctl enable --now "
            "nvidia-persistenced, or sudo nvidia-smi -pm 1). If it does not end: sudo dmesg | grep -iE 'nvrm|xid' "
            "names the card and the error; processes in state D cannot be ended. Save what can be saved, then "
            "{reboot}. If it comes back: another release of the driver.",
            REBOOT,
        ),
    )


@RULES.rule("nvml-crashes", "nvidia-driver", asks="NVML does not crash", worst=Severity.WARNING, source=NVML_CRASHES)
def check_nvml_crashes(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    if "ended by signal" not in (look.get("nvidia.nvml_error") or ""):
        return
    yield Conclusion(
        severity=Severity.WARNING,
        title=say("NVML crashes the process that calls it"),
        explanation=say(
            "nvidia-smi, and programs that ask NVML about cards, end with a segmentation fault; programs that only "
            "use CUDA may run. It is a fault of the library, or of one that is not the driver's: two drivers "
            "installed, a copy in a container's image, a card that was lost meanwhile, some releases under WSL 2."
        ),
        advice=say(
            "ldconfig -p lists the libraries: there has to be one libnvidia-ml.so.1, of the driver's version (cat "
            "/proc/driver/nvidia/version; under WSL the one in /usr/lib/wsl/lib). Remove others, or install another "
            "release of the driver. To check: nvidia-smi"
        ),
    )


@RULES.rule("cards-lost", "hardware", asks="every card answers the driver", worst=Severity.BROKEN, source=XID)
def check_lost(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    lost = look.number("nvidia.cards_lost")
    error = (look.get("nvidia.nvml_error") or "").lower()
    if not lost and not any(words in error for words in _LOST):
        return
    count = (
        (say("{n_lost} cards", f"{lost:g}") if lost and lost > 1 else say("{n_lost} card", f"{lost:g}"))
        if lost
        else say("A card")
    )
    yield Conclusion(
        severity=Severity.BROKEN,
        title=(
            say("{count} no longer answers the driver: the GPU is lost", count)
            if not lost or lost == 1
            else say("{count} no longer answer the driver: the GPU is lost", count)
        ),
        explanation=say(
            "The driver knows the card and gets no answer over PCIe: it fell off the bus (Xid 79), through power, "
            "heat, a riser or the card itself. While it is lost, nvidia-smi may fail for the other cards too."
        ),
        advice=say(
            "sudo dmesg | grep -iE 'nvrm|xid' names the card and the error. Save the work on the other cards, then "
            "{reboot}; a power cycle where a reboot does not bring it back. If it comes back and is lost again: check "
            "power cables and temperature, try another slot, have the card replaced. To check: nvidia-smi -L",
            REBOOT,
        ),
    )


@RULES.rule(
    "compute-prohibited", "hardware", asks="programs may use the card", worst=Severity.BROKEN, source=NVIDIA_SMI
)
def check_prohibited(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    closed = [card for card in look.cards("nvidia") if card.get("compute_mode") == "prohibited"]
    if closed:
        index = closed[0].index
        yield Conclusion(
            severity=Severity.BROKEN,
            title=say(
                "The compute mode is Prohibited, which keeps every CUDA program off the card: {named}", named(closed)
            ),
            explanation=say(
                "CUDA answers that all devices are busy or unavailable, or lists none. A virtual GPU without CUDA "
                "shows this mode too."
            ),
            advice=say(
                "sudo nvidia-smi -i {index} -c DEFAULT (running programs go on; to undo: sudo nvidia-smi -i {index_2} "
                "-c PROHIBITED). To check: nvidia-smi -i {index_3} --query-gpu=compute_mode --format=csv. On a vGPU "
                "it cannot be changed inside: its profile decides.",
                index,
                index,
                index,
            ),
            cards=indexes(closed),
        )


@RULES.rule("vgpu-without-cuda", "hardware", asks="the virtual GPU offers CUDA", worst=Severity.BROKEN, source=VGPU)
def check_vgpu(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    without = [card for card in look.cards("nvidia") if _PROFILE.search(card.name)]
    if without and not look.starts_cuda:
        yield Conclusion(
            severity=Severity.BROKEN,
            title=say("The profile of this vGPU has no CUDA: {named}", named(without)),
            explanation=say(
                "Profiles that end in A (applications) or B (desktops) draw only; CUDA comes with profiles that end "
                "in Q (workstations) or C (compute)."
            ),
            advice=say(
                "Ask who runs the hypervisor for a profile that ends in Q or C, with its licence; the virtual machine "
                "restarts for it. Nothing inside the machine changes this. To check: nvidia-smi -L"
            ),
            cards=indexes(without),
        )


@RULES.rule(
    "libcuda-not-loaded", "cuda-driver-api", asks="nvidia-smi can load libcuda", worst=Severity.BROKEN, source=LIBCUDA
)
def check_cuda_version_error(look: Look, tables: Tables) -> Iterator[Conclusion]:
    """`CUDA Version: ERR!`: nvidia-smi asks libcuda for that number."""
    if look.reason_of("cuda.driver_api_version") != "failed" or not look.get("nvidia.driver_version"):
        return
    if look.starts_cuda or not look.cards("nvidia"):
        return
    if look.get("os.wsl"):
        advice = say(
            "ls -l /usr/lib/wsl/lib/libcuda* must list libcuda.so.1; sudo ldconfig, then wsl --shutdown in Windows, "
            "which ends every program in WSL. If it stays: install in Windows {driver}, and wsl --update. "
            "Install no driver in Linux.",
            newest_driver(look, tables),
        )
    else:
        advice = say(
            "ldconfig -p | grep libcuda must list libcuda.so.1 of the driver's version. If none is listed, the "
            "package with libcuda is missing (libnvidia-compute-<branch> on Ubuntu), on the host where this is a "
            "container: start it with NVIDIA_DRIVER_CAPABILITIES=compute,utility"
        )
    yield Conclusion(
        severity=Severity.BROKEN,
        title=say("nvidia-smi prints ERR! for the CUDA version: it cannot load libcuda"),
        explanation=say("The driver lists its cards, and the library that starts CUDA is not found or fails."),
        advice=say("{advice} To check: nvidia-smi shows a CUDA version again", advice),
        cards=indexes(look.cards("nvidia")),
    )


@RULES.rule(
    "no-card-passed", "pytorch", asks="a card is there for this build of torch", worst=Severity.WARNING, source=TOOLKIT
)
def check_no_card(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    """A build with CUDA that finds nothing, and nothing of NVIDIA is reported at all."""
    if look.all_cards or look.is_true("cuda.available") is not False or look.platform == "macos":
        return
    cuda, container = look.get("torch.cuda_version"), why_container(look)
    seen = ("nvidia.driver_version", "nvidia.nvml_error", "cuda.init_code")
    if cuda is None or look.get("torch.hip_version") or any(look.get(name) for name in seen):
        return
    yield Conclusion(
        severity=Severity.WARNING if container else Severity.NOTE,
        title=say("torch is built with CUDA {cuda}, and no NVIDIA card or driver is reported here", cuda),
        explanation=(
            say("{container} It was started without the GPU, or its host has none.", container)
            if container
            else say(
                "This machine has no NVIDIA card, its driver is not installed, or this is a container that was "
                "started without the GPU."
            )
        ),
        advice=say(
            "nvidia-smi shows whether a driver is there, on the host too. In a container: docker run --gpus all (it "
            "needs the NVIDIA container toolkit on the host). Without a card: nothing to do, torch uses the CPU."
        ),
    )
