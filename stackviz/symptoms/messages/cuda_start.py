"""CUDA does not start: what its driver API and torch say of it."""

from stackviz.symptoms.symptom import Cause, Symptom

SMI = "nvidia-smi"
COLLECT_ENV = "python -m torch.utils.collect_env"
DRIVER_API_ERRORS = "https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__TYPES.html"
DRIVER_API_TITLE = "CUDA Driver API, CUresult"

SYMPTOMS = (
    Symptom(
        key="driver-too-old",
        message="The NVIDIA driver on your system is too old (found version 11040)",
        patterns=(
            r"driver on your system is too old(?: \(found version (?P<cuda__driver_api_version>\d{4,5})\))?",
            r"CUDA driver version is insufficient for CUDA runtime version",
        ),
        anchors=("is too old", "driver version is insufficient"),
        component="nvidia-driver",
        meaning=(
            "This build of PyTorch or CUDA needs a newer NVIDIA driver than the one that is loaded. The number in the "
            "message is the newest CUDA version that the driver serves: 11040 is CUDA 11.4."
        ),
        causes=(
            Cause(
                text="The driver is older than the CUDA version of the build.",
                sign="nvidia-smi shows a CUDA version below torch.version.cuda.",
                remedy="Install a build for a CUDA version that the driver serves, or update the driver.",
            ),
            Cause(
                text="In a container: the image is newer than the host's driver.",
                sign="The same program runs on a host with a newer driver.",
                remedy="Update the driver on the host, or take an older image.",
            ),
        ),
        ask=COLLECT_ENV,
        states={"cuda.available": False},
        rules=("driver-too-old",),
        source_title="CUDA Toolkit Release Notes, driver versions",
        source_url="https://docs.nvidia.com/cuda/cuda-toolkit-release-notes/index.html",
    ),
    Symptom(
        key="cuda-802",
        message="Error 802: system not yet initialized",
        patterns=(r"system not yet initialized",),
        anchors=("system not yet initialized",),
        component="nvidia-driver",
        meaning=(
            "The cards of this machine are connected by NVSwitch, and CUDA cannot start before the fabric manager has "
            "set up the switches."
        ),
        causes=(
            Cause(
                text="The fabric manager is not running.",
                sign="systemctl status nvidia-fabricmanager does not say active.",
                remedy="sudo systemctl enable --now nvidia-fabricmanager",
            ),
            Cause(
                text="The fabric manager is of another version than the driver.",
                sign="Its log names two versions.",
                remedy="Install nvidia-fabricmanager in exactly the driver's version.",
            ),
        ),
        ask="systemctl status nvidia-fabricmanager",
        states={"cuda.init_code": 802, "cuda.available": False},
        rules=("err802-fabric",),
        source_title=DRIVER_API_TITLE,
        source_url=DRIVER_API_ERRORS,
    ),
)
