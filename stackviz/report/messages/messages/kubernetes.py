"""GPUs in containers: the NVIDIA container toolkit, CDI, and the parts of NVIDIA in Kubernetes."""

from stackviz.report.messages.commands import NVIDIA_SMI
from stackviz.report.messages.messages import containers
from stackviz.report.messages.symptom import Cause, Family, coded, text_family

_TOOLKIT = (
    "NVIDIA Container Toolkit, installation guide",
    "https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/install-guide.html",
)
_CDI = (
    "NVIDIA Container Toolkit, support for CDI",
    "https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/cdi-support.html",
)
_PLUGIN = ("NVIDIA/k8s-device-plugin, README", "https://github.com/NVIDIA/k8s-device-plugin")
_OPERATOR = (
    "NVIDIA GPU Operator, troubleshooting",
    "https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/troubleshooting.html",
)
_RUNTIME = Cause(
    text="The container runtime of the node does not hand GPUs on: containerd does not know the runtime nvidia.",
    sign="nvidia-smi works on the node and not in a pod.",
    remedy=(
        "On the node install nvidia-container-toolkit, then: sudo nvidia-ctk runtime configure --runtime=containerd "
        "--set-as-default && sudo systemctl restart containerd; or keep runc and set runtimeClassName: nvidia."
    ),
)
_NO_CLASS = Cause(
    text="The pod names the RuntimeClass nvidia, and the cluster or this node has none.",
    sign="kubectl get runtimeclass lists no nvidia.",
    remedy="Create the RuntimeClass with handler nvidia, or let the GPU Operator do it.",
)
_NODE_DRIVER = Cause(
    text="The driver does not work on the node.",
    sign="nvidia-smi fails on the node.",
    remedy="Make nvidia-smi work on the node first.",
)

_SYMPTOMS = (
    coded(
        "cdi-devices",
        "CDI device injection failed: unresolvable CDI devices nvidia.com/gpu=all",
        "The container asks for a GPU by CDI, and no description of that device lies in /etc/cdi or /var/run/cdi.",
        (
            Cause(
                text="The description was never made, or is from before a change of cards or driver.",
                sign="nvidia-ctk cdi list does not name the device.",
                remedy="sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml",
            ),
            Cause(
                text="The name of the device is wrong, or it needs MIG or an index that is not there.",
                sign="nvidia-ctk cdi list names others.",
                remedy="Use a name of that list, as nvidia.com/gpu=all or nvidia.com/gpu=0.",
            ),
            _NODE_DRIVER,
        ),
        "docker info",
        "linux",
        _CDI,
    ),
    coded(
        "kube-runtime-class",
        'failed to get sandbox runtime: no runtime for "nvidia" is configured',
        "The pod asks for the runtime nvidia, and containerd or CRI-O on this node does not know it.",
        (_RUNTIME, _NO_CLASS),
        NVIDIA_SMI,
        "linux",
        _TOOLKIT,
    ),
    coded(
        "device-plugin-no-devices",
        "No devices found. Waiting indefinitely.",
        "NVIDIA's device plugin sees no card in its own container, so the node offers no nvidia.com/gpu.",
        (_RUNTIME, _NODE_DRIVER, _NO_CLASS),
        NVIDIA_SMI,
        "linux",
        _PLUGIN,
    ),
    coded(
        "kube-insufficient-gpu",
        "0/3 nodes are available: 3 Insufficient nvidia.com/gpu.",
        "No node has as many free GPUs of this name as the pod asks for.",
        (
            Cause(
                text="Other pods have all of them.",
                sign="kubectl describe node shows nvidia.com/gpu below Allocatable and as Allocated.",
                remedy="End pods that do not need one, ask for fewer, or share cards (time-slicing, MIG).",
            ),
            Cause(
                text="The nodes offer none: the device plugin does not run there, or sees no card.",
                sign="kubectl describe node shows no nvidia.com/gpu below Allocatable.",
                remedy="Look at the log of the device plugin: kubectl logs -n gpu-operator -l app=nvidia-device-plugin",
            ),
            Cause(
                text="The pod asks by another name: MIG devices are nvidia.com/mig-1g.10gb and the like.",
                sign="kubectl describe node lists other names of nvidia.com.",
                remedy="Ask for a name that the node offers.",
            ),
        ),
        NVIDIA_SMI,
        "linux",
        _PLUGIN,
    ),
    coded(
        "kube-allocation",
        "UnexpectedAdmissionError: Allocate failed due to requested number of devices unavailable for nvidia.com/gpu",
        "The node took the pod and could not give it the GPUs: they are unhealthy, or the device plugin is not ready.",
        (
            Cause(
                text="A card had an error and is left out.",
                sign="The log of the device plugin says unhealthy; sudo dmesg on the node shows an Xid.",
                remedy="See to the card; then start the pod of the device plugin again.",
            ),
            Cause(
                text="The node or the device plugin has just been started.",
                sign="It ends within minutes.",
                remedy="Delete the failed pod; its controller makes a new one.",
            ),
        ),
        NVIDIA_SMI,
        "linux",
        _PLUGIN,
    ),
    coded(
        "gpu-operator-waits",
        "toolkit is not ready: waiting for nvidia container stack to be setup",
        "The pods of the GPU Operator start in a row: driver, toolkit, device plugin. One of them does not finish.",
        (
            Cause(
                text="The driver container does not build or load its module.",
                sign="The log of the pod nvidia-driver-daemonset ends with an error.",
                remedy="Mend that error (kernel headers, Secure Boot, nouveau), or install the driver on the node.",
            ),
            _NODE_DRIVER,
            _RUNTIME,
        ),
        NVIDIA_SMI,
        "linux",
        _OPERATOR,
    ),
    coded(
        "container-cgroup",
        "nvidia-container-cli: mount error: failed to add device rules: unable to find any existing device filters",
        "The toolkit cannot open the devices of the card to the container in the control groups of this system.",
        (
            Cause(
                text="The toolkit is too old for cgroup v2, or the container runs without privileges (rootless, LXC).",
                sign="nvidia-ctk --version is below 1.8, or Docker runs rootless.",
                remedy=(
                    "Update the toolkit; for rootless and LXC set no-cgroups = true in "
                    "/etc/nvidia-container-runtime/config.toml, and pass the devices in."
                ),
            ),
        ),
        "docker info",
        "linux",
        _TOOLKIT,
    ),
    coded(
        "container-image-driver",
        "nvidia-container-cli: mount error: file creation failed: /usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1",
        "The image has libraries of the driver of its own, where the toolkit puts those of the host.",
        (
            Cause(
                text="The image was made with a driver inside, often by docker commit of a running container.",
                sign="The file is named in the message, and lies in the image.",
                remedy="Build the image from a CUDA image without a driver, or remove libnvidia-* and libcuda from it.",
            ),
        ),
        "docker info",
        "linux",
        _TOOLKIT,
    ),
    coded(
        "container-ldcache",
        "nvidia-container-cli: ldcache error: open failed: /sbin/ldconfig.real: no such file or directory",
        "The toolkit looks for ldconfig under the name of another distribution.",
        (
            Cause(
                text="The configuration of the toolkit is of another distribution.",
                sign="/etc/nvidia-container-runtime/config.toml has ldconfig = @/sbin/ldconfig.real.",
                remedy="Write ldconfig = @/sbin/ldconfig there, as your distribution names it.",
            ),
        ),
        "docker info",
        "linux",
        _TOOLKIT,
    ),
    coded(
        "container-device",
        "nvidia-container-cli: device error: 3: unknown device: unknown",
        "The container asks for a card that the host does not have under this name.",
        (
            Cause(
                text="NVIDIA_VISIBLE_DEVICES or --gpus names a number, UUID or MIG device that is not there.",
                sign="nvidia-smi -L on the host does not list it.",
                remedy="Use a name that nvidia-smi -L prints, or --gpus all.",
            ),
            Cause(
                text="The card was lost.",
                sign="nvidia-smi -L lists fewer cards than before.",
                remedy="Look at what the driver says: sudo dmesg | grep -iE 'nvrm|xid'",
            ),
        ),
        "nvidia-smi -L",
        "linux",
        _TOOLKIT,
    ),
)

_FAILS = r"cannot|could not|unable|fail\w{0,3}|no such|unresolvable|unknown|not found|error"

FAMILIES = (
    text_family("containers", (*_SYMPTOMS, *containers.SYMPTOMS)),
    Family(
        patterns=(rf"\b(?P<code>(?:{_FAILS})[^\n]{{0,80}}\bCDI\b|\bCDI\b[^\n]{{0,80}}\b(?:{_FAILS}))",),
        anchors=("cdi",),
        members={},
        is_general=True,
        unlisted=_SYMPTOMS[0],
    ),
)
