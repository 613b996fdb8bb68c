"""What a person sees first: nvidia-smi reaches no driver, torch sees no card. Told where no other rule says why."""

from collections.abc import Iterator

from stackviz.base.sentence import join_sentences, say
from stackviz.report.messages import BY_KEY, KERNEL_LOG
from stackviz.report.rules.checks.branches import newest_driver
from stackviz.report.rules.checks.grouping import indexes, named
from stackviz.report.rules.checks.places import REBOOT, is_jetson, may_have_nvswitch, needs_open_modules, why_container
from stackviz.report.rules.compatibility import RuleSource, Tables
from stackviz.report.rules.drivers import serves
from stackviz.report.rules.look import CardLook, Look
from stackviz.report.rules.rule import Conclusion, RuleSet, Severity

RULES = RuleSet(order=140)

DRIVER_GUIDE = RuleSource(
    "nvidia-driver-installation-guide",
    "NVIDIA Driver Installation Guide",
    "https://docs.nvidia.com/datacenter/tesla/driver-installation-guide/",
)
CUDA_SEMANTICS = RuleSource(
    "pytorch-cuda-environment",
    "PyTorch, CUDA Environment Variables",
    "https://docs.pytorch.org/docs/stable/cuda_environment_variables.html",
)
_NOT_REACHED = ("communicate with the nvidia driver", "driver not loaded")
_NO_DEVICES = ("no devices were found", "no devices found")
_NONE_VISIBLE = ("-1", "nodevfiles")


@RULES.rule(
    "smi-no-driver",
    "nvidia-driver",
    asks="nvidia-smi reaches the driver",
    worst=Severity.BROKEN,
    source=DRIVER_GUIDE,
    last_resort=True,
)
def check_no_driver(look: Look, tables: Tables) -> Iterator[Conclusion]:
    error = look.get("nvidia.nvml_error") or ""
    not_reached = any(words in error.lower() for words in _NOT_REACHED)
    if not not_reached and not any(words in error.lower() for words in _NO_DEVICES):
        return
    if _is_in_the_log(look):
        return
    if look.starts_cuda:
        yield Conclusion(
            severity=Severity.NOTE,
            title=say("nvidia-smi fails ({error}), but CUDA is reported to start", error),
            explanation=say(
                "Both cannot be true at the same time: the outputs are from different times or machines, or the "
                "driver was changed in between."
            ),
            advice=say("Compare: nvidia-smi; cat /proc/driver/nvidia/version"),
        )
    elif not_reached:
        yield Conclusion(
            severity=Severity.BROKEN,
            title=say("nvidia-smi cannot talk to the NVIDIA driver"),
            explanation=say(
                "The tools are installed, but the kernel module they talk to is not loaded: it was not built for the "
                "running kernel (a kernel update without its headers), Secure Boot rejected it, another driver holds "
                "the card, or none is installed. No program sees a GPU until it loads."
            ),
            advice=_load_the_driver(look, tables),
        )
    else:
        yield Conclusion(
            severity=Severity.BROKEN,
            title=say("The NVIDIA driver finds no card"),
            explanation=say(
                "The driver is loaded but has no usable card: the card is not visible on the bus, fell off it, is not "
                "supported by this driver, is held by another driver, or was not passed to this container or virtual "
                "machine."
            ),
            advice=_find_the_card(look, tables),
        )


def _load_the_driver(look: Look, tables: Tables) -> str:
    if look.platform == "windows":
        return _in_windows(look, tables)
    if container := why_container(look):
        return say(
            "{container} The driver is the host's: run nvidia-smi on the host, and mend it there if it fails. If it "
            "works there, restart the container with docker run --gpus all",
            container,
        )
    if is_jetson(look):
        return say(
            "Older JetPack releases have no nvidia-smi for the GPU of a Jetson: sudo tegrastats shows it. Install no "
            "driver for desktops or servers; the right one comes with JetPack."
        )
    modules = say(" with the open kernel modules (a package that ends in -open)") if needs_open_modules(look) else ""
    return say(
        "Under WSL, in Windows only: install no driver in Linux. Else in this order: lsmod | grep -E 'nvidia|nouveau' "
        "(is NVIDIA's module loaded, or nouveau?); sudo modprobe nvidia (its error names the cause); dkms status (is "
        "there a module for the kernel that uname -r names?); sudo apt install linux-headers-$(uname -r) && sudo dkms "
        "autoinstall (Debian, Ubuntu: build it anew); mokutil --sb-state (with Secure Boot on, the module has to be "
        "signed with an enrolled key); then {reboot}. If no module is there at all: install the driver from the "
        "distribution{modules}. In a container: on the host.",
        REBOOT,
        modules,
    )


def _is_in_the_log(look: Look) -> bool:
    """Whether the kernel's log, or modprobe, says in the same text why: that message is explained."""
    symptoms = [BY_KEY[key] for key in (look.get("message.symptoms") or "").split() if key in BY_KEY]
    return any(symptom.series == KERNEL_LOG and symptom.severity == "broken" for symptom in symptoms)


def _find_the_card(look: Look, tables: Tables) -> str:
    if look.platform == "windows":
        return _in_windows(look, tables)
    return say(
        "In this order: lspci -nnk | grep -A3 -i nvidia (is the card on the bus, and which driver is in use?); sudo "
        "dmesg | grep -iE 'nvrm|xid' (what the driver says of it: fallen off the bus, not supported, firmware; RTX 50 "
        "and other Blackwell cards need the open kernel modules, packages that end in -open); in a container: docker "
        "run --gpus all (and nvidia-smi on the host). A card that is not on the bus: power off, reseat it, look at "
        "its power cables and the slot's setting in the firmware."
    )


def _in_windows(look: Look, tables: Tables) -> str:
    update = say(
        "Check the card in the Device Manager, then install {driver} from https://www.nvidia.com/drivers and restart "
        "Windows, which ends every program.",
        newest_driver(look, tables),
    )
    return say("In Windows, not in WSL: {update} Then: wsl --shutdown", update) if look.get("os.wsl") else update


@RULES.rule(
    "torch-sees-no-card",
    "pytorch",
    asks="torch sees the card",
    worst=Severity.BROKEN,
    source=CUDA_SEMANTICS,
    last_resort=True,
)
def check_sees_card(look: Look, tables: Tables) -> Iterator[Conclusion]:
    """CUDA is not available to torch, beside a card: the question itself, with what is known to hold."""
    cards = look.cards("nvidia")
    if not cards or look.is_true("cuda.available") is not False:
        return
    torch, cuda = look.get("torch.version"), look.get("torch.cuda_version")
    if torch is None or cuda is None:
        return  # no CUDA build, or none is told: cpu-wheel says so
    visible = look.get("cuda.visible_devices")
    if visible and visible.lower() in _NONE_VISIBLE:
        yield _hidden(visible, cards)
        return
    yield Conclusion(
        severity=Severity.BROKEN,
        title=say(
            "torch sees no card: CUDA is reported as not available, although the machine has {named}", named(cards)
        ),
        explanation=say(
            "torch {torch} is built with CUDA {cuda}. {driver_fits} The cause is not in this report.",
            torch,
            cuda,
            _driver_fits(look, tables, cuda),
        ),
        advice=_ask_next(look),
        cards=indexes(cards),
    )


def _hidden(visible: str, cards: list[CardLook]) -> Conclusion:
    return Conclusion(
        severity=Severity.WARNING,
        title=say("CUDA_VISIBLE_DEVICES={visible} hides every card from torch: {named}", visible, named(cards)),
        explanation=say("Programs see only the cards that the variable lists, and it lists none."),
        advice=say(
            "If this is not on purpose: unset CUDA_VISIBLE_DEVICES (and look for it in ~/.bashrc and the job script)"
        ),
        cards=indexes(cards),
    )


def _driver_fits(look: Look, tables: Tables, cuda: str) -> str:
    driver = look.get("nvidia.driver_version")
    api_version = look.get("cuda.driver_api_version") or ""
    if driver is None:
        return say("The driver version was not reported.")
    runs = serves(tables, driver, cuda, look.driver_platform, api_version)
    if runs is None:
        return say("Cannot tell whether driver {driver} is new enough for it.", driver)
    return (
        say("Driver {driver} is new enough for it.", driver)
        if runs
        else say("Driver {driver} may be too old for it.", driver)
    )


def _ask_next(look: Look) -> str:
    """What to check, the most informative first, without what the report already answers."""
    steps = [
        say('python -c "import torch; torch.cuda.init()" (its error names the cause)'),
        say("nvidia-smi (does it list it?)"),
    ]
    if look.get("cuda.visible_devices") is None and not look.states_none("cuda.visible_devices"):
        steps.append(say("echo $CUDA_VISIBLE_DEVICES (empty or -1 hides every card, where it is set)"))
    if look.platform == "linux" and look.is_true("nvidia.uvm_device") is not True:
        steps.append(say("ls -l /dev/nvidia-uvm (missing: sudo nvidia-modprobe -c 0 -u)"))
    if look.platform == "linux" and may_have_nvswitch(look):
        steps.append(say("systemctl status nvidia-fabricmanager (must run on machines with NVSwitch, such as HGX)"))
    if look.platform == "linux" and not look.states_none("machine.container"):
        steps.append(say("in a container: docker run --gpus all"))
    return say("Check in this order: {steps}.", join_sentences(steps, "; "))
