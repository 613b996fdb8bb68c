"""Linux under an NVIDIA card: is NVIDIA's kernel module the one that runs, and does a container still reach it?"""

from collections.abc import Iterator

from stackviz.base.sentence import join_sentences, say
from stackviz.report.rules.checks.places import REBOOT
from stackviz.report.rules.compatibility import RuleSource, Tables
from stackviz.report.rules.look import Look
from stackviz.report.rules.rule import Conclusion, RuleSet, Severity

RULES = RuleSet(order=100)

CONTAINER = RuleSource(
    "nvidia-container-toolkit-48",
    "NVIDIA/nvidia-container-toolkit issue 48: containers lose their cards",
    "https://github.com/NVIDIA/nvidia-container-toolkit/issues/48",
)
NOUVEAU = RuleSource(
    "nvidia-auto-installer-166",
    "gridhead/nvidia-auto-installer-for-fedora-linux issue 166: nouveau stays loaded",
    "https://github.com/gridhead/nvidia-auto-installer-for-fedora-linux/issues/166",
)
SECURE_BOOT = RuleSource(
    "gpu-driver-container-44",
    "NVIDIA/gpu-driver-container issue 44: key was rejected by service",
    "https://github.com/NVIDIA/gpu-driver-container/issues/44",
)
DOCKER_RUNTIME = RuleSource(
    "nvidia-container-toolkit-install",
    "NVIDIA Container Toolkit, installation and configuration of Docker",
    "https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/install-guide.html",
)
_NEED_THE_RUNTIME = frozenset({"docker-no-gpu-driver", "docker-unknown-runtime"})
_RELOADED = say(
    "This happens when the host reloads its services: the container's cgroup then loses the rule for the card's device "
    "files, while nvidia-smi on the host works."
)
_NO_DRIVER = ("driver not loaded", "communicate with the nvidia driver", "no devices were found")


def _says_no_driver(look: Look) -> bool:
    error = (look.get("nvidia.nvml_error") or "").lower()
    return any(words in error for words in _NO_DRIVER)


@RULES.rule(
    "nvml-unknown-container",
    "nvidia-driver",
    asks="the container has lost its cards",
    worst=Severity.BROKEN,
    source=CONTAINER,
)
def check_container(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    error = (look.get("nvidia.nvml_error") or "").lower()
    if "unknown error" not in error or "device handle" in error or look.states_none("machine.container"):
        return
    container = look.get("machine.container")
    sure = say("The container ({container}) has lost its cards: NVML reports Unknown Error", container)
    outside = (
        "" if container else say("Less likely, and outside of containers only: the driver or a card is in trouble.")
    )
    yield Conclusion(
        severity=Severity.BROKEN,
        title=sure if container else say("NVML reports Unknown Error: most likely a container that has lost its cards"),
        explanation=join_sentences([_RELOADED, outside]),
        advice=say(
            "Restart the container, which ends its programs. For a permanent fix: sudo nvidia-ctk system "
            "create-dev-char-symlinks --create-all on the host, or let the container runtime use cgroupfs. To check: "
            "nvidia-smi, here and on the host"
        ),
    )


@RULES.rule("nouveau", "nvidia-driver", asks="nouveau holds the NVIDIA card", worst=Severity.BROKEN, source=NOUVEAU)
def check_nouveau(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    if look.platform != "linux" or look.states_none("os.modules"):
        return
    modules = look.get("os.modules")
    if modules is None:
        if not _says_no_driver(look) or look.get("nvidia.kernel_module_version"):
            return
        modules = look.need("os.modules")
    loaded = modules.split()
    if "nouveau" in loaded and "nvidia" not in loaded:
        yield Conclusion(
            severity=Severity.BROKEN,
            title=say("The kernel uses nouveau for the NVIDIA card, not NVIDIA's module"),
            explanation=say(
                "nouveau drives displays and does not support CUDA; while it holds the card, NVIDIA's module cannot "
                "load."
            ),
            advice=say(
                "Install NVIDIA's driver from the distribution, then: echo 'blacklist nouveau' | sudo tee "
                "/etc/modprobe.d/blacklist-nouveau.conf, rebuild the initramfs (update-initramfs -u or dracut "
                "--force), and {reboot}. To undo: sudo rm /etc/modprobe.d/blacklist-nouveau.conf and the same again. "
                "To check: lsmod | grep nvidia",
                REBOOT,
            ),
        )


def _module_is_missing(look: Look) -> bool:
    """Whether the report says that NVIDIA's module is installed and not loaded."""
    if look.is_true("nvidia.module_installed") is not True or look.get("nvidia.kernel_module_version"):
        return False
    if look.states_none("os.modules") or look.states_none("nvidia.kernel_module_version"):
        return True
    modules = look.get("os.modules")
    return modules is not None and "nvidia" not in modules.split()


@RULES.rule(
    "secure-boot",
    "nvidia-driver",
    asks="Secure Boot blocks NVIDIA's module",
    worst=Severity.BROKEN,
    source=SECURE_BOOT,
    needs=("nvidia-driver", "linux"),
)
def check_secure_boot(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    if look.platform != "linux" or look.states_none("os.secure_boot") or not _module_is_missing(look):
        return
    if "nouveau" in (look.get("os.modules") or "").split():
        return  # that rule says why
    if look.need("os.secure_boot") == "true":
        yield Conclusion(
            severity=Severity.BROKEN,
            title=say("NVIDIA's kernel module is installed but not loaded, and Secure Boot is on"),
            explanation=say(
                "The firmware lets the kernel load only modules signed with a known key; a module built on this "
                "machine is rejected with: Key was rejected by service."
            ),
            advice=say(
                "sudo mokutil --import /var/lib/shim-signed/mok/MOK.der (the key of DKMS; the path differs between "
                "distributions), reboot and enrol it (at the screen of the machine: it asks for the password), or "
                "turn Secure Boot off in the firmware. A reboot ends every program. To check: sudo modprobe nvidia"
            ),
        )


DKMS = RuleSource(
    "nvidia-driver-guide",
    "NVIDIA, Driver Installation Guide",
    "https://docs.nvidia.com/datacenter/tesla/driver-installation-guide/",
)


@RULES.rule(
    "module-missing",
    "nvidia-driver",
    asks="NVIDIA's module is built for the running kernel",
    worst=Severity.BROKEN,
    source=DKMS,
    needs=("nvidia-driver", "linux"),
)
def check_module(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    """Only where dkms was asked: what a distribution builds itself is not in its list."""
    kernels, running = look.get("nvidia.module_kernels"), (look.get("os.kernel") or "").removeprefix("Linux ")
    if look.get("nvidia.kernel_module_version") or look.starts_cuda or look.get("os.wsl"):
        return
    advice = say(
        "sudo apt install linux-headers-$(uname -r) && sudo dkms autoinstall (elsewhere install the headers of the "
        "running kernel first), then: sudo modprobe nvidia"
    )
    if look.states_none("nvidia.module_kernels"):
        yield Conclusion(
            severity=Severity.BROKEN,
            title=say("dkms has built NVIDIA's module for no kernel"),
            explanation=say("Its sources are there, and building it was not tried or failed: no program sees a GPU."),
            advice=advice,
        )
    elif kernels and running and running in kernels.split():
        yield Conclusion(severity=Severity.FITS, title=say("NVIDIA's module is built for kernel {kernel}", running))
    elif kernels and running:
        yield Conclusion(
            severity=Severity.BROKEN,
            title=say("NVIDIA's module is built for kernel {kernels}, and {kernel} runs", kernels, running),
            explanation=say("A module loads into the kernel that it was built for only: no program sees a GPU."),
            advice=advice,
        )
    elif kernels:
        look.need("os.kernel")


@RULES.rule(
    "docker-runtime", "linux", asks="Docker knows the runtime nvidia", worst=Severity.BROKEN, source=DOCKER_RUNTIME
)
def check_docker_runtime(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    """Broken where Docker says that it has nothing that hands a GPU on; else worth knowing: CDI needs no runtime."""
    runtimes = look.get("machine.docker_runtimes")
    if runtimes is None or "nvidia" in runtimes.split():
        return
    if not look.cards("nvidia") and look.states_none("nvidia.driver_version"):
        return  # a machine without an NVIDIA card
    has_failed = not _NEED_THE_RUNTIME.isdisjoint((look.get("message.symptoms") or "").split())
    yield Conclusion(
        severity=Severity.BROKEN if has_failed else Severity.NOTE,
        title=say("Docker knows no runtime nvidia: {runtimes}", runtimes),
        explanation=say(
            "The NVIDIA container toolkit adds it; without it, and without devices listed for CDI, no container gets "
            "an NVIDIA GPU."
        ),
        advice=say(
            "On the host, install nvidia-container-toolkit, then: sudo nvidia-ctk runtime configure --runtime=docker "
            "and restart Docker (sudo systemctl restart docker), which ends running containers. To check: docker info"
        ),
    )
