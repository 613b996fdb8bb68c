"""Does CUDA start: what cuInit and NVML answer, and the module, device file and service they depend on."""

from collections.abc import Iterator

from stackviz.base.sentence import say
from stackviz.report.rules.checks.places import REBOOT, why_container
from stackviz.report.rules.compatibility import RuleSource, Tables
from stackviz.report.rules.look import CardLook, Look
from stackviz.report.rules.rule import Conclusion, RuleSet, Severity
from stackviz.report.rules.versions import numbers

RULES = RuleSet(order=10)

NVML_MISMATCH = RuleSource(
    "ubuntu-packaging-nvidia-driver-3",
    "NVIDIA/ubuntu-packaging-nvidia-driver issue 3: library newer than the loaded module",
    "https://github.com/NVIDIA/ubuntu-packaging-nvidia-driver/issues/3",
)
ERROR_802 = RuleSource(
    "gpustack-1254",
    "gpustack/gpustack issue 1254: error 802 without the fabric manager",
    "https://github.com/gpustack/gpustack/issues/1254",
)
ERROR_803 = RuleSource(
    "nvidia-docker-1256",
    "NVIDIA/nvidia-docker issue 1256: display driver and CUDA driver do not fit",
    "https://github.com/NVIDIA/nvidia-docker/issues/1256",
)
ERROR_804 = RuleSource(
    "mistral-inference-144",
    "mistralai/mistral-inference issue 144: forward compatibility on a card that has none",
    "https://github.com/mistralai/mistral-inference/issues/144",
)
AFTER_SUSPEND = RuleSource(
    "pytorch-issue-88639",
    "pytorch/pytorch issue 88639: unknown error after resume",
    "https://github.com/pytorch/pytorch/issues/88639",
)
NO_UVM = RuleSource(
    "pytorch-issue-49081",
    "pytorch/pytorch issue 49081: /dev/nvidia-uvm is missing",
    "https://github.com/pytorch/pytorch/issues/49081",
)
MODULE = "nvidia.kernel_module_version"
SYSTEM_NOT_READY, DRIVER_MISMATCH, NO_FORWARD_COMPATIBILITY, UNKNOWN = 802, 803, 804, 999
# Cards that forward compatibility is not for; data-center and most workstation cards have it.
_CONSUMER = ("geforce", "titan")


@RULES.rule(
    "nvml-mismatch",
    "nvidia-driver",
    asks="kernel module and libraries belong to the same driver",
    worst=Severity.BROKEN,
    source=NVML_MISMATCH,
)
def check_nvml_mismatch(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    error = look.get("nvidia.nvml_error") or ""
    module, library = look.get(MODULE), look.get("nvidia.nvml_version")
    differ = bool(module and library and not of_one_driver(module, library))
    if "version mismatch" in error.lower() or differ:
        versions = say(": module {module}, library {library}", module, library) if differ else ""
        yield Conclusion(
            severity=Severity.BROKEN,
            title=say("The NVIDIA libraries do not match the loaded driver{versions}", versions),
            explanation=_why_mismatch(look),
            advice=_match_again(look),
        )
    elif module and library:
        yield Conclusion(severity=Severity.FITS, title=say("Kernel module and libraries are both {module}", module))
    elif error and look.mentions(MODULE) and not look.states_none(MODULE):
        look.need(MODULE)


def _why_mismatch(look: Look) -> str:
    if container := why_container(look):
        return say(
            "{container} The image brings NVIDIA libraries of its own, of another version than the host's driver.",
            container,
        )
    return say(
        "The driver's packages were updated while the old kernel module stayed loaded, or two drivers are installed; "
        "nvidia-smi and NVML refuse to work with a module of another version."
    )


def _match_again(look: Look) -> str:
    if why_container(look):
        return say(
            "Use an image without driver libraries, or remove the packages libnvidia-* from it: the container toolkit "
            "brings the host's (docker run --gpus all). A reboot does not help. To check: nvidia-smi, here and on the "
            "host"
        )
    return say(
        "cat /proc/driver/nvidia/version prints the module that is loaded. If it is older than the installed "
        "packages, {reboot}. If it is newer, or two drivers are installed (a package and NVIDIA's .run), remove one. "
        "In a container, while nvidia-smi works on the host, the image brings the wrong libraries: no reboot helps. "
        "To prevent unattended updates: sudo apt-mark hold nvidia-driver-<branch> (undo: unhold)",
        REBOOT,
    )


def of_one_driver(module: str, library: str) -> bool:
    """NVML puts the CUDA major before the driver's version, and may leave the end away: 12.560.35 is of 560.35.03."""
    version = numbers(library)
    return any(
        len(candidate) > 1 and numbers(module)[: len(candidate)] == candidate for candidate in (version, version[1:])
    )


@RULES.rule(
    "err802-fabric", "nvidia-driver", asks="the fabric manager is running", worst=Severity.BROKEN, source=ERROR_802
)
def check_error_802(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    code, switches = look.number("cuda.init_code"), look.number("nvidia.nvswitches")
    if code != SYSTEM_NOT_READY and not switches:
        return
    manager = look.get("nvidia.fabric_manager")
    if code == SYSTEM_NOT_READY:
        state = say("; its service is {manager}", manager) if manager else ""
        yield Conclusion(
            severity=Severity.BROKEN,
            title=say("CUDA fails with error 802, system not yet initialized{state}", state),
            explanation=say(
                "The cards of this machine are connected by NVSwitch, and CUDA cannot start until the fabric manager "
                "has set up the switches."
            ),
            advice=say(
                "sudo systemctl enable --now nvidia-fabricmanager (on the host, where this is a container); its "
                "version must match the driver's{exactly} digit for digit. To check: systemctl status "
                "nvidia-fabricmanager",
                _exactly(look),
            ),
        )
    elif manager == "active":
        yield Conclusion(severity=Severity.FITS, title=say("The fabric manager is running"))
    elif manager or look.states_none("nvidia.fabric_manager"):
        yield _without_manager(look, manager or say("not installed"))
    else:
        look.need("nvidia.fabric_manager")


def _without_manager(look: Look, manager: str) -> Conclusion:
    """NVSwitch, and its service does not run here. `manager`: its state in words."""
    if look.starts_cuda:
        return Conclusion(
            severity=Severity.NOTE,
            title=say(
                "This machine has NVSwitch, and CUDA starts although the fabric manager is {manager} here", manager
            ),
            explanation=say(
                "CUDA starts only once the switches are set up, so something has set them up: a service outside this "
                "container or virtual machine, or one that ran earlier."
            ),
            advice=say("Nothing to do as long as CUDA starts. On the host: systemctl status nvidia-fabricmanager"),
        )
    return Conclusion(
        severity=Severity.BROKEN,
        title=say("This machine has NVSwitch, and the fabric manager is {manager}", manager),
        explanation=say("Until it has set up the switches, CUDA fails with error 802 in every program."),
        advice=say(
            "Install nvidia-fabricmanager in exactly the driver's version{exactly}, then: sudo systemctl enable --now "
            "nvidia-fabricmanager",
            _exactly(look),
        ),
    )


def _exactly(look: Look) -> str:
    driver = look.get("nvidia.driver_version")
    return f" ({driver})" if driver else ""


def compat_path(look: Look) -> str:
    """The folder of a forward-compatibility library that programs would find first; "" if there is none."""
    path = look.get("env.ld_library_path") or ""
    folders = [folder for folder in path.split(":") if "/compat" in folder and "cuda" in folder.lower()]
    loaded = look.get("cuda.libcuda_path") or ""
    return folders[0] if folders else loaded if "/compat" in loaded else ""


def consumer_cards(look: Look) -> list[CardLook]:
    """Cards that forward compatibility is not offered for."""
    return [card for card in look.cards("nvidia") if any(mark in card.name.lower() for mark in _CONSUMER)]


@RULES.rule(
    "err803", "cuda-driver-api", asks="libcuda matches the loaded driver", worst=Severity.BROKEN, source=ERROR_803
)
def check_error_803(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    if look.number("cuda.init_code") == DRIVER_MISMATCH:
        compat = compat_path(look)
        yield Conclusion(
            severity=Severity.BROKEN,
            title=say("CUDA fails with error 803: libcuda does not match the loaded driver"),
            explanation=say("A forward-compatibility library is found first: {compat}.", compat)
            if compat
            else say("A driver package was updated under a running module, or another libcuda is found first."),
            advice=say(
                "Remove the compat folder from LD_LIBRARY_PATH. If there is none: in a container, use an image "
                "without driver libraries; else {reboot}.",
                REBOOT,
            ),
        )
    elif look.get("cuda.init_code") is None and compat_path(look) and look.mentions("cuda.init_code"):
        look.need("cuda.init_code")


@RULES.rule(
    "err804",
    "cuda-driver-api",
    asks="forward compatibility is available for this card",
    worst=Severity.BROKEN,
    source=ERROR_804,
)
def check_error_804(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    code, compat = look.number("cuda.init_code"), compat_path(look)
    consumer = consumer_cards(look)
    if code == NO_FORWARD_COMPATIBILITY or (compat and consumer and code is None):
        yield Conclusion(
            severity=Severity.BROKEN,
            title=say("CUDA fails with error 804: the forward-compatibility library does not support this card")
            if code
            else say(
                "A forward-compatibility library ({compat}) is found first, but does not support this card", compat
            ),
            explanation=say(
                "A container or package brought a newer libcuda that builds on the older driver. That works on "
                "data-center cards only; on others CUDA does not start."
            ),
            advice=say(
                "Remove the compat folder from LD_LIBRARY_PATH, or update the driver on the host to the CUDA version "
                "of the container."
            ),
            cards=tuple(card.index for card in consumer),
        )


@RULES.rule("uvm-after-suspend", "nvidia-driver", asks="CUDA starts", worst=Severity.BROKEN, source=AFTER_SUSPEND)
def check_after_suspend(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    if look.number("cuda.init_code") != UNKNOWN or look.get("nvidia.nvml_error"):
        return
    if look.is_true("nvidia.uvm_device") is False:
        return  # uvm-device-missing says why
    if not look.cards("nvidia"):
        look.need("nvidia.driver_version")
    yield Conclusion(
        severity=Severity.BROKEN,
        title=say("CUDA fails with error 999, unknown error, although the driver lists the card"),
        explanation=say("This happens after the machine slept: the module nvidia_uvm keeps a stale state."),
        advice=say(
            "sudo rmmod nvidia_uvm && sudo modprobe nvidia_uvm; to prevent it, set "
            "NVreg_PreserveVideoMemoryAllocations=1 and enable nvidia-suspend.service and nvidia-resume.service."
        ),
    )


@RULES.rule("uvm-device-missing", "nvidia-driver", asks="/dev/nvidia-uvm exists", worst=Severity.BROKEN, source=NO_UVM)
def check_uvm_device(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    if look.get("os.wsl") or not look.mentions("nvidia.uvm_device") or look.states_none("nvidia.uvm_device"):
        return
    is_loaded = look.get("nvidia.kernel_module_version") or "nvidia" in (look.get("os.modules") or "").split()
    if not look.cards("nvidia") and not is_loaded:
        return
    is_missing = look.need("nvidia.uvm_device") == "false"
    if is_missing and look.starts_cuda:
        yield Conclusion(
            severity=Severity.NOTE,
            title=say("/dev/nvidia-uvm was not found, but CUDA starts"),
            explanation=say(
                "The first program that starts CUDA creates the device file if it is allowed to; the probe only "
                "looked too early."
            ),
            advice=say("Nothing to do as long as CUDA starts."),
        )
    elif is_missing:
        yield Conclusion(
            severity=Severity.BROKEN,
            title=say("/dev/nvidia-uvm is missing"),
            explanation=say(
                "The driver lists the card, but CUDA cannot start without this device file, which manages the card's "
                "memory."
            ),
            advice=say(
                "sudo nvidia-modprobe -c 0 -u (in a container: pass the device in, or use the NVIDIA container toolkit)"
            ),
        )
    else:
        yield Conclusion(severity=Severity.FITS, title=say("/dev/nvidia-uvm exists"))
