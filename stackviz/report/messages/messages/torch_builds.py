"""The build of torch does not suit the machine: no CUDA in it, no code for the card, packages of another build."""

from stackviz.report.messages.commands import COLLECT_ENV
from stackviz.report.messages.symptom import Cause, Symptom

_GET_STARTED = "PyTorch, Start Locally"
_GET_STARTED_URL = "https://pytorch.org/get-started/locally/"
_CUDA_INIT = "PyTorch, torch/cuda/__init__.py"
_CUDA_INIT_URL = "https://github.com/pytorch/pytorch/blob/main/torch/cuda/__init__.py"
_GPU = r"Found GPU\d{1,2} (?P<card>[A-Z][\w ()./-]{1,60}?[\w)]) which is of "
_NAMED_GPU = _GPU + "cuda capability "
_PROCESS = r"(?:\(\w{1,20} pid=\d{1,9}\) )?"  # vLLM writes it before every line
_WRONG_INDEX = Cause(
    text="pip took the wheel of its default index, which has no CUDA on this platform.",
    sign="torch.__version__ ends in +cpu, or torch.version.cuda is None.",
    remedy="Install a CUDA build: https://pytorch.org/get-started/locally/ gives the command.",
    only_on=("linux", "windows"),
)

SYMPTOMS = (
    Symptom(
        key="torch-without-cuda",
        message="AssertionError: Torch not compiled with CUDA enabled",
        patterns=(
            r"Torch not compiled with CUDA enabled",
            r"PyTorch (?:was|is) not (?:compiled|built|linked) with (?:support for )?cuda",
        ),
        anchors=("not compiled with", "not linked with", "not built with"),
        component="pytorch",
        meaning="The program asks for a CUDA device, and this build of torch has no CUDA or reaches no card.",
        causes=(
            _WRONG_INDEX,
            Cause(
                text="On a Mac there is no CUDA; the GPU is the device mps.",
                sign="platform.system() is Darwin.",
                remedy='Use torch.device("mps"), or what the program offers for Macs.',
                favoured_by=("mac",),
                only_on=("mac",),
            ),
            Cause(
                text="Another environment is active than the one torch was installed into.",
                sign="python -m pip show torch names another version than torch.__version__.",
                remedy="Activate the environment, or call its python by its path.",
            ),
        ),
        ask=COLLECT_ENV,
        lacks={"torch.cuda_version": "not_applicable"},
        rules=("cpu-wheel", "torch-sees-no-card", "driver-too-old", "rosetta"),
        source_title=_GET_STARTED,
        source_url=_GET_STARTED_URL,
    ),
    Symptom(
        key="torch-cpu-build",
        message="PyTorch `2.9.1+cpu`",
        patterns=(r"(?:Py)?Torch(?: version)?[*:= ]{0,4}`(?P<torch__version>\d\.\d{1,2}\.\d{1,2}\+cpu)`",),
        anchors=("+cpu`",),
        component="pytorch",
        severity="note",
        meaning="This torch is built for the CPU: it has no CUDA, and uses no GPU.",
        causes=(_WRONG_INDEX,),
        ask=COLLECT_ENV,
        lacks={"torch.cuda_version": "not_applicable"},
        rules=("cpu-wheel",),
        source_title=_GET_STARTED,
        source_url=_GET_STARTED_URL,
    ),
    Symptom(
        key="deserialize-without-cuda",
        message="Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False",
        patterns=(r"Attempting to deserialize object on a CUDA device but torch\.cuda\.is_available\(\) is False",),
        anchors=("to deserialize object on a cuda",),
        component="pytorch",
        meaning="A file saved on a GPU is loaded where torch sees none.",
        causes=(
            Cause(
                text="The machine has no NVIDIA card, which is fine.",
                sign="It is a Mac, or nvidia-smi is not installed.",
                remedy="Load it onto the processor: torch.load(path, map_location='cpu')",
                favoured_by=("mac",),
            ),
            Cause(
                text="torch does not see the card of this machine.",
                sign="nvidia-smi lists one.",
                remedy="Mend that first: the output of collect_env tells why.",
                only_on=("linux", "windows"),
            ),
        ),
        ask=COLLECT_ENV,
        states={"cuda.available": False},
        rules=("cpu-wheel", "torch-sees-no-card", "driver-too-old"),
        source_title="PyTorch, torch.load",
        source_url="https://docs.pytorch.org/docs/stable/generated/torch.load.html",
    ),
    Symptom(
        key="no-kernel-image",
        message="CUDA error: no kernel image is available for execution on the device",
        patterns=(r"no kernel image is available", r"cudaErrorNoKernelImageForDevice"),
        anchors=("no kernel image", "cudaerrornokernelimagefordevice"),
        component="pytorch",
        meaning="The program, or a library of it, carries no code for this card's compute capability (error 209).",
        causes=(
            Cause(
                text="The program brings no code for the card, which is newer than its release.",
                sign="There is no torch here: the program brings its own code.",
                remedy="Install the newest release of the program.",
                favoured_by=("no-python",),
                only_on=("no-python",),
            ),
            Cause(
                text="The card is newer than the build of torch.",
                sign="Its capability is above the highest of torch.cuda.get_arch_list().",
                remedy="Install a build for a newer CUDA version.",
                excluded_by=("kernels-missing",),
                card_age="new",
            ),
            Cause(
                text="The build of torch has dropped the card.",
                sign="Its capability is below the lowest of torch.cuda.get_arch_list().",
                remedy="Install the last build that has code for it.",
                excluded_by=("kernels-missing",),
                card_age="old",
            ),
            Cause(
                text="An extension (flash-attn, xFormers, a custom kernel) was built for other cards.",
                sign="Plain torch works: torch.ones(1, device='cuda') + 1 runs without an error.",
                remedy="Install or build that extension for this card.",
            ),
        ),
        ask=COLLECT_ENV,
        rules=("kernels-missing", "cudnn-drops-old-card", "flash-attn-card", "vllm-card", "bitsandbytes-card"),
        source_title="CUDA Programming Guide, compute capabilities",
        source_url="https://docs.nvidia.com/cuda/cuda-programming-guide/05-appendices/compute-capabilities.html",
    ),
    Symptom(
        key="capability-not-supported",
        message=(
            "NVIDIA GeForce RTX 5090 with CUDA capability sm_120 is not compatible with the current PyTorch "
            "installation"
        ),
        patterns=(
            (
                r"(?P<card>\b[A-Z][\w ()./-]{1,60}?[\w)]) with CUDA capability (?P<capability>sm_\d{2,3})a? "
                r"is not compatible with the "
                r"current PyTorch installation"
            ),
            (
                r"current PyTorch (?:install|installation) supports CUDA capabilities "
                r"(?P<torch__arch_list>(?:(?:sm|compute)_\d{2,3}a? ?\.?\s{0,8}){1,30})"
            ),
        ),
        anchors=("with the current pytorch", "supports cuda capabilities"),
        component="pytorch",
        meaning="This build of torch has no code for the card. The message lists what it has code for.",
        causes=(
            Cause(
                text="The card is newer than the build.",
                sign="Its capability is above the highest of the list.",
                remedy="Install a build for a newer CUDA version.",
                excluded_by=("kernels-missing",),
                card_age="new",
            ),
            Cause(
                text="The build has dropped the card.",
                sign="Its capability is below the lowest of the list.",
                remedy="Install the last build that has code for it.",
                excluded_by=("kernels-missing",),
                card_age="old",
            ),
        ),
        ask=COLLECT_ENV,
        rules=("kernels-missing",),
        source_title=_GET_STARTED,
        source_url=_GET_STARTED_URL,
    ),
    Symptom(
        key="card-outside-range",
        message=(
            "Found GPU0 Tesla P100-PCIE-16GB which is of cuda capability 6.0. Minimum and Maximum cuda capability "
            "supported by this version of PyTorch is (7.0) - (12.0)"
        ),
        patterns=(
            _NAMED_GPU
            + r"(?P<capability>(?!12\.1)\d{1,2}\.\d)\.? "
            + _PROCESS
            + r"Minimum and Maximum cuda capability supported",
            _NAMED_GPU
            + r"(?P<capability>\d{1,2}\.\d)\.? "
            + _PROCESS
            + r"PyTorch no longer supports this GPU because it is too old",
            r"PyTorch no longer supports this GPU because it is too old",
            _GPU
            + r"compute capability \(CC\) (?P<capability>\d{1,2}\.\d)\.? "
            + _PROCESS
            + r"The following list shows the CCs this version of PyTorch was built for",
        ),
        anchors=("which is of cuda capability", "which is of compute capability", "no longer supports this gpu"),
        component="pytorch",
        meaning="This build of torch has no code for the card, so that the first kernel on it fails.",
        causes=(
            Cause(
                text="The build has dropped the card.",
                sign="The card's capability is below the range, or the message calls it too old.",
                remedy="Install the last build that has code for it; those for CUDA 12.6 go down to capability 5.0.",
                excluded_by=("kernels-missing",),
                card_age="old",
            ),
            Cause(
                text="The card is newer than the build.",
                sign="The card's capability is above the range.",
                remedy="Install a build for a newer CUDA version.",
                excluded_by=("kernels-missing",),
                card_age="new",
            ),
        ),
        ask=COLLECT_ENV,
        rules=("kernels-missing",),
        source_title=_CUDA_INIT,
        source_url=_CUDA_INIT_URL,
    ),
    Symptom(
        key="capability-12-1",
        message=(
            "Found GPU0 NVIDIA GB10 which is of cuda capability 12.1. Minimum and Maximum cuda capability supported by "
            "this version of PyTorch is (8.0) - (12.0)"
        ),
        patterns=(
            _NAMED_GPU + r"(?P<capability>12\.1)\.? " + _PROCESS + r"Minimum and Maximum cuda capability supported by "
            r"this version of PyTorch is " + _PROCESS + r"\(\d{1,2}\.\d\) - \(12\.0\)",
        ),
        anchors=("which is of cuda capability 12.1",),
        component="pytorch",
        severity="note",
        meaning="The warning is harmless: a card of capability 12.1 runs the code that torch has for 12.0.",
        causes=(
            Cause(
                text="torch compares the capability with the newest it was built for, not with what the card can run.",
                sign="torch.ones(1, device='cuda') + 1 works.",
                remedy="Nothing needs to be done.",
            ),
        ),
        ask="python -c \"import torch; print(torch.ones(1, device='cuda') + 1)\"",
        rules=("kernels-missing",),
        source_title="CUDA Programming Guide, compute capabilities",
        source_url="https://docs.nvidia.com/cuda/cuda-programming-guide/05-appendices/compute-capabilities.html",
    ),
    Symptom(
        key="torchvision-nms",
        message="RuntimeError: operator torchvision::nms does not exist",
        patterns=(r"operator torchvision::(?P<detail>\w{1,40}) does not exist", r"Couldn't load custom C\+\+ ops"),
        anchors=("operator torchvision::", "load custom c++ ops"),
        component="torchvision",
        meaning="torchvision was built for another torch: for another release, or one with CUDA beside one without.",
        causes=(
            Cause(
                text="torch was upgraded, or replaced by another build, without torchvision.",
                sign=(
                    "python -m pip list shows +cpu for one and +cu… for the other, or releases that do not belong "
                    "together."
                ),
                remedy="Install both in one command, from the same index.",
                excluded_by=("companion-version",),
            ),
            Cause(
                text="conda and pip have each installed one of them.",
                sign="conda list shows pypi beside one of them only.",
                remedy="Install both with the same tool.",
                favoured_by=("conda",),
            ),
        ),
        ask="python -m pip list",
        rules=("companion-version", "torch-versions-disagree"),
        source_title="torchvision, README: which torch each release is for",
        source_url="https://github.com/pytorch/vision#installation",
    ),
    Symptom(
        key="torchvision-nms-backend",
        message="Could not run 'torchvision::nms' with arguments from the 'CUDA' backend",
        patterns=(r"Could not run '(?P<detail>torchvision::\w{1,40})' with arguments from the 'CUDA' backend",),
        anchors=("could not run 'torchvision::",),
        component="torchvision",
        meaning="torch has CUDA and torchvision is a CPU build: its operators have no code for the card.",
        causes=(
            Cause(
                text="torchvision was installed from another index than torch.",
                sign="torchvision.__version__ ends in +cpu.",
                remedy="Install it again from the index of torch.",
                excluded_by=("companion-build",),
            ),
        ),
        ask="python -m pip list",
        rules=("companion-version", "torch-versions-disagree"),
        source_title="torchvision, README: which torch each release is for",
        source_url="https://github.com/pytorch/vision#installation",
    ),
    Symptom(
        key="triton-missing",
        message="RuntimeError: Cannot find a working triton installation",
        patterns=(
            r"Cannot find a working triton installation",
            r"No module named '?triton'?",
            r"TritonMissing",
        ),
        anchors=("working triton", "named 'triton", "named triton", "tritonmissing"),
        component="triton",
        meaning=(
            "torch.compile makes its kernels for the GPU with Triton, which is not installed or does not work here."
        ),
        causes=(
            Cause(
                text="On Windows, pip installs no Triton with torch.",
                sign="platform.system() is Windows.",
                remedy="Use WSL2, or run without torch.compile.",
                favoured_by=("windows",),
                only_on=("windows",),
            ),
            Cause(
                text="The card is older than Triton supports (compute capability below 7.0).",
                sign="nvidia-smi --query-gpu=name,compute_cap --format=csv shows it.",
                remedy="Run without torch.compile.",
            ),
            Cause(
                text="Triton was removed or replaced.",
                sign="python -m pip show triton fails, or names another version than torch asks for.",
                remedy="Install torch again: its wheel for Linux brings the right one.",
            ),
        ),
        ask=COLLECT_ENV,
        source_title="Triton, README: compatibility",
        source_url="https://github.com/triton-lang/triton#compatibility",
    ),
    Symptom(
        key="ptxas-unknown-arch",
        message="ptxas fatal : Value 'sm_121a' is not defined for option 'gpu-name'",
        patterns=(
            r"PTXASError|Internal Triton PTX codegen error|NoTritonPTXAS",
            r"ptxas fatal ?: Value '(?P<detail>sm_\d{2,3}[a-z]?)' is not defined for option 'gpu-name'",
            r"nvcc fatal ?: Unsupported gpu architecture '(?P<detail>compute_\d{2,3}[a-z]?)'",
        ),
        anchors=(
            "ptxaserror",
            "triton ptx codegen",
            "notritonptxas",
            "is not defined for option",
            "unsupported gpu architecture",
        ),
        component="triton",
        meaning="The compiler for GPU code is older than the card, or newer and has dropped it.",
        causes=(
            Cause(
                text="Triton's own ptxas does not know the card.",
                sign="The message comes below torch.compile or a Triton kernel.",
                remedy="Install a newer Triton or torch, or set TRITON_PTXAS_PATH to the ptxas of a newer toolkit.",
                excluded_by=("triton-ptxas",),
            ),
            Cause(
                text="An extension is built with an installed toolkit that does not know the card.",
                sign="nvcc --version is older than the card, or the newest ones have dropped it.",
                remedy="Build with a toolkit that supports the card, or set TORCH_CUDA_ARCH_LIST to what it knows.",
            ),
        ),
        ask="nvcc --version",
        rules=("triton-ptxas",),
        source_title="triton-lang/triton issue 8539",
        source_url="https://github.com/triton-lang/triton/issues/8539",
    ),
)
