"""Packages with kernels of their own: not installed, built for another torch, without code for the card."""

from stackviz.report.messages.commands import COLLECT_ENV
from stackviz.report.messages.symptom import Cause, Symptom

_PIP_LIST = "python -m pip list"
_CPP = "PyTorch, custom C++ and CUDA extensions"
_CPP_URL = "https://docs.pytorch.org/tutorials/advanced/cpp_custom_ops.html"
OTHER_TORCH = Cause(
    text="It was built for another torch than the one here: torch was replaced afterwards.",
    sign="The release of the package, or the name of its wheel, names another torch than torch.__version__.",
    remedy="Install the package's release for this torch, or the torch that it was built for, in one command.",
    excluded_by=("companion-version",),
)

SYMPTOMS = (
    Symptom(
        key="extension-not-installed",
        message="ModuleNotFoundError: No module named 'causal_conv1d_cuda'",
        patterns=(
            r"No package metadata was found for (?P<detail>[\w.-]{2,40})",
            (
                r"(?:requires?|please install|you need to install)[^\n]{0,60}`?pip install (?:-U )?"
                r"(?<![\w.-])(?P<detail>[\w\[\]-]{2,40})"
            ),
            r"please install (?P<detail>[\w-]{2,40}==[\w.]{1,20})",
            (
                r"(?<!correctly:.)No module named '?(?P<detail>(?!torch\b|triton\b|jax|pkg_resources|distutils"
                r"|setuptools|wheel\b|packaging|ninja\b)[A-Za-z_]\w{1,40})(?=['\s]|$|\._C)"
            ),
            r"name '(?P<detail>selective_scan_cuda|causal_conv1d_cuda)' is not defined",
            r"the package (?P<detail>flash_attn|bitsandbytes|accelerate) seems to be not installed",
            (
                r"(?:Using|requires) `?(?P<detail>bitsandbytes|flash[-_]attn|auto-gptq|autoawq)`?[^.\n]{0,60} "
                r"requires? (?:the latest|Accelerate)"
            ),
            r"(?P<detail>flash[-_]attn|xformers|sageattention|deepspeed) is not (?:installed|available)",
        ),
        anchors=(
            "no package metadata",
            "please install",
            "need to install",
            "requires accelerate",
            "no module named",
            "selective_scan_cuda",
            "causal_conv1d_cuda",
            "seems to be not installed",
            "requires the latest",
            "flash_attn is not",
            "flash-attn is not",
            "xformers is not",
            "sageattention is not",
            "deepspeed is not",
        ),
        component="pytorch",
        severity="warning",
        is_general=True,
        meaning="The program asks for a package that this Python does not have.",
        causes=(
            Cause(
                text="It is not installed in the environment that runs.",
                sign="The list of packages does not name it.",
                remedy=(
                    "Install it with the Python that runs, or turn it off in the program: "
                    "python -m pip install --no-build-isolation <package>"
                ),
            ),
            Cause(
                text=(
                    "Its installation ended without compiled code: nvcc was missing, or the wheel is of another system."
                ),
                sign="The list names it, and the import fails all the same.",
                remedy="Take the release that has a wheel for this torch, this CUDA and this Python.",
            ),
        ),
        ask=_PIP_LIST,
        source_title=_CPP,
        source_url=_CPP_URL,
    ),
    Symptom(
        key="build-without-torch",
        message="ModuleNotFoundError: No module named 'torch' (Getting requirements to build wheel did not run)",
        patterns=(
            r"[Pp]lease install (?:py)?torch before",
            (
                r"(?:Getting requirements to build wheel|build_wheel|get_requires_for_build)[\s\S]{0,900}?No module "
                r"named '?torch\b"
            ),
            (
                r"No module named '?torch\b[\s\S]{0,300}?(?:Getting requirements to build|build isolation|build "
                r"dependencies|build dependency)"
            ),
        ),
        anchors=(
            "please install torch",
            "please install pytorch",
            "requirements to build",
            "build_wheel",
            "get_requires_for_build",
            "build isolation",
            "build dependenc",
        ),
        component="python",
        meaning="The package asks for torch while it is built, and pip builds it in an environment without torch.",
        causes=(
            Cause(
                text="Builds are isolated: what is installed here is not seen there.",
                sign="torch can be imported in the environment.",
                remedy=(
                    "pip install --no-build-isolation <package> (after torch, ninja, packaging, setuptools and wheel)"
                ),
            ),
            Cause(
                text="uv has to be told which packages see the environment.",
                sign="uv runs the build.",
                remedy="Name the package under no-build-isolation-package in [tool.uv] of pyproject.toml.",
                favoured_by=("uv",),
                only_on=("uv",),
            ),
        ),
        ask=_PIP_LIST,
        source_title="pip, build isolation",
        source_url="https://pip.pypa.io/en/stable/reference/build-system/#disabling-build-isolation",
    ),
    Symptom(
        key="companion-other-cuda",
        message=(
            "RuntimeError: Detected that PyTorch and torchvision were compiled with different CUDA major versions. "
            "PyTorch has CUDA Version=12.8 and torchvision has CUDA Version=13.0."
        ),
        patterns=(
            (
                r"PyTorch and (?P<detail>torch\w{3,10}) were compiled with different CUDA (?:major )?versions"
                r"(?:\. PyTorch has CUDA Version=(?P<torch__cuda_version>\d{1,2}\.\d))?"
            ),
            r"(?P<detail>torch\w{3,10}) version [\w.+]{3,20} was compiled against PyTorch [\w.+]{3,20} but found",
            (
                r"(?P<detail>torch\w{3,10}) was compiled (?:with|against) (?:a )?different (?:version of )?(?:CUDA"
                r"|PyTorch)"
            ),
        ),
        anchors=("were compiled with different cuda", "compiled with different", "compiled against", "compiled with a"),
        component="torchvision",
        meaning="torch and one of its companions are builds for different CUDA versions.",
        causes=(
            Cause(
                text="They were installed from different indexes.",
                sign="python -m pip list shows different endings: +cu126 and +cu130, or +cpu.",
                remedy="Install both in one command, from the same index.",
                excluded_by=("companion-build",),
            ),
        ),
        ask=_PIP_LIST,
        rules=("companion-version",),
        source_title="torchvision, README: which torch each release is for",
        source_url="https://github.com/pytorch/vision#installation",
    ),
    Symptom(
        key="numpy-other-major",
        message="A module that was compiled using NumPy 1.x cannot be run in NumPy 2.2.6 as it may crash.",
        patterns=(
            r"module (?:was )?compiled against (?:ABI|API) version \S{3,14} but this version of numpy is",
            r"was removed in the NumPy 2\.0 release",
            r"numpy\.core\.umath failed to import",
            r"compiled using NumPy 1\.x cannot be run in NumPy (?P<detail>2[\d.]{1,8})",
            r"Numpy is not available",
            r"numpy\.dtype size changed, may indicate binary incompatibility",
            r"numpy\.core\.multiarray failed to import",
            r"_ARRAY_API not found",
            r"module 'numpy' has no attribute '(?P<detail>bool|int|float|object|long)'",
        ),
        anchors=(
            "this version of numpy",
            "numpy 2.0 release",
            "compiled using numpy",
            "numpy is not available",
            "numpy.dtype size",
            "numpy.core.multiarray",
            "numpy.core.umath",
            "_array_api",
            "module 'numpy'",
        ),
        component="numpy",
        meaning="torch or another package was compiled for NumPy 1, and NumPy 2 is installed (or the other way round).",
        causes=(
            Cause(
                text="The package is older than NumPy 2: torch takes it from release 2.3 on.",
                sign="torch.__version__ is below 2.3, as on every Intel Mac.",
                remedy='pip install "numpy<2"',
                favoured_by=("intel-mac",),
            ),
            Cause(
                text="A newer release of the package takes NumPy 2.",
                sign="The line that begins with File names the package.",
                remedy="Update that package.",
            ),
        ),
        ask=_PIP_LIST,
        severity="warning",
        source_title="NumPy 2.0 migration guide",
        source_url="https://numpy.org/doc/stable/numpy_2_0_migration_guide.html",
    ),
    Symptom(
        key="bitsandbytes-library",
        message="Configured CUDA binary not found at bitsandbytes/libbitsandbytes_cuda128.so",
        patterns=(
            r"BNB_CUDA_VERSION=(?P<detail>\d{2,3}) environment variable detected",
            r"Configured (?:CUDA|ROCm|XPU) binary not found at \S{0,160}?(?P<detail>libbitsandbytes_[\w.]{1,40})",
            (
                r"(?P<detail>libbitsandbytes_(?:cuda|rocm|cpu|xpu)\w{0,12}\.(?:so|dll|dylib))[^\n]{0,40}(?:not found"
                r"|cannot open|No such)"
            ),
            r"bitsandbytes library load error",
            r"CUDA Setup failed(?: despite (?:GPU|CUDA) being available)?",
            r"CUDA SETUP: (?P<detail>[^\n]{0,60}(?:not found|failed|incompatible)[^\n]{0,40})",
        ),
        anchors=(
            "bnb_cuda_version",
            "binary not found at",
            "libbitsandbytes",
            "bitsandbytes library load",
            "cuda setup failed",
            "cuda setup:",
        ),
        component="bitsandbytes",
        meaning="bitsandbytes has a library for each CUDA version, and the one for torch's is not there.",
        causes=(
            Cause(
                text="This release of bitsandbytes is older than the CUDA version of torch.",
                sign="ls of its folder lists no library with torch.version.cuda in its name.",
                remedy="pip install --upgrade bitsandbytes",
            ),
            Cause(
                text="It was installed from source, and the library was not compiled.",
                sign="pip install -e . was run, or the folder is a clone.",
                remedy="cmake -DCOMPUTE_BACKEND=cuda -S . && make (in the clone), or take the published wheel.",
            ),
            Cause(
                text="A variable asks for another version.",
                sign="BNB_CUDA_VERSION is set.",
                remedy="unset BNB_CUDA_VERSION",
            ),
        ),
        ask=_PIP_LIST,
        source_title="bitsandbytes, installation guide",
        source_url="https://huggingface.co/docs/bitsandbytes/main/en/installation",
    ),
    Symptom(
        key="xformers-no-operator",
        message="NotImplementedError: No operator found for `memory_efficient_attention_forward` with inputs:",
        patterns=(r"No operator found for [`'](?P<detail>memory_efficient_\w{1,40})[`']",),
        anchors=("no operator found for",),
        component="xformers",
        meaning=(
            "None of xFormers' kernels takes this card, this type or these shapes; the lines below it say why for each."
        ),
        causes=(
            Cause(
                text="xFormers was installed without its compiled kernels, or for another torch.",
                sign="The lines say that operator wasn't built; python -m xformers.info shows unavailable.",
                remedy="Install the xFormers of this torch, from the index of this torch.",
            ),
            Cause(
                text="The tensors are not on the card, or the card is of a generation that these kernels do not take.",
                sign="The lines say device=cpu, or requires device with capability.",
                remedy="Turn xFormers off: PyTorch's own attention (SDPA) takes every card.",
            ),
        ),
        ask="python -m xformers.info",
        rules=("cpu-wheel",),
        source_title="xFormers, README: installing",
        source_url="https://github.com/facebookresearch/xformers#installing-xformers",
    ),
    Symptom(
        key="extension-other-torch",
        message="ImportError: libtorch_cuda.so: cannot open shared object file: No such file or directory",
        patterns=(
            r"undefined symbol: (?P<detail>(?!_{0,2}nvJitLink)\w{2,120}), version lib[\w.]{3,40}",
            r"symbol lookup error: [^\n]{3,120}",
            r"dynamic module does not define module export function",
            r"torch_extensions/\S{1,120}?(?P<detail>[\w.-]{1,60}\.so): cannot open shared object",
            r"(?P<detail>libtorch_?\w{0,12}\.(?:so|dylib))[^\n]{0,80}(?:cannot open|not loaded|image not found)",
            r"Symbol not found: (?P<detail>_?_ZN?K?(?:2at|3c10|5torch)\w{1,160})",
        ),
        anchors=(
            ", version lib",
            "symbol lookup error",
            "dynamic module does not",
            "torch_extensions/",
            "libtorch",
            "symbol not found",
        ),
        component="pytorch",
        meaning="A package with code of its own was built for another release of torch than the one here.",
        causes=(OTHER_TORCH,),
        ask=_PIP_LIST,
        rules=("companion-version", "flash-attn-abi", "torch-versions-disagree"),
        source_title=_CPP,
        source_url=_CPP_URL,
    ),
    Symptom(
        key="triton-windows",
        message="ImportError: DLL load failed while importing libtriton: A dynamic link library (DLL) routine failed.",
        patterns=(
            r"DLL load failed while importing (?P<detail>libtriton)",
            r"triton(?: is)? not (?:available|supported) on Windows",
        ),
        anchors=("importing libtriton", "triton not", "triton is not"),
        component="triton",
        severity="warning",
        meaning=(
            "Triton has no wheels of its project for Windows; the ones of others need Microsoft's runtime and a "
            "compiler."
        ),
        causes=(
            Cause(
                text="The Visual C++ Redistributable is missing or old, or the wheel is of another Python or torch.",
                sign="Apps & features lists none of 2015-2022 for x64; triton-windows is of another release.",
                remedy=(
                    "Install https://aka.ms/vs/17/release/vc_redist.x64.exe, then the triton-windows that belongs to "
                    "this torch; or run without torch.compile, or in WSL2."
                ),
            ),
        ),
        ask=COLLECT_ENV,
        states={"os.name": "Windows"},
        source_title="triton-windows, README",
        source_url="https://github.com/woct0rdho/triton-windows",
    ),
    Symptom(
        key="api-of-another-release",
        message="AttributeError: module 'torch.library' has no attribute 'register_fake'",
        patterns=(
            r"Failed to import (?P<detail>[\w.]{3,80}) because of the following error",
            r"module '(?P<detail>(?!numpy'|pkgutil)[A-Za-z_][\w.]{1,60})' has no attribute",
            r"cannot import name '\w{1,60}' from (?:partially initialized module )?'?(?P<detail>[A-Za-z_][\w.]{1,60})",
            r"No module named '?(?P<detail>(?!vllm\._C)[A-Za-z_]\w{1,40}\.[\w.]{1,60})",
            r"(?<![\w.-])(?P<detail>\w{3,40}) requires (?:Py)?torch ?(?:[<>=]{1,2}|version|at least) ?\d[^\n]{0,60}",
        ),
        anchors=(
            "because of the following error",
            "has no attribute",
            "cannot import name",
            "no module named",
            "requires pytorch",
            "requires torch",
        ),
        component="pytorch",
        is_general=True,
        meaning="A package calls what the installed release of another does not have: they do not belong together.",
        causes=(
            Cause(
                text="The package is newer than the release that it calls.",
                sign="The name was added in a later release.",
                remedy="Update the package that is named in the message, within what the others allow (pip check).",
            ),
            Cause(
                text="The package is older: the name was removed since.",
                sign="The name is in the release notes as removed.",
                remedy="Update the package of the line above the message, or take the release that it was made for.",
            ),
            Cause(
                text="A file or folder of yours has the name of the package.",
                sign="The path in the message is not in site-packages; partially initialized is printed.",
                remedy="Rename it.",
            ),
        ),
        ask=_PIP_LIST,
        rules=("companion-version", "torch-versions-disagree"),
        source_title=_CPP,
        source_url=_CPP_URL,
    ),
    Symptom(
        key="flash-attn-limit",
        message="RuntimeError: FlashAttention forward only supports head dimension at most 256",
        patterns=(r"FlashAttention[\w -]{0,20} only support(?:s|ed)? (?!Ampere)(?P<detail>[^\n.]{3,80})",),
        anchors=("flashattention",),
        component="flash-attn",
        meaning="FlashAttention has no kernel for this type, these shapes or this generation of cards.",
        causes=(
            Cause(
                text="The model asks for what these kernels do not do: the message names the limit.",
                sign='With attn_implementation="sdpa" it runs.',
                remedy='Use PyTorch\'s own attention: attn_implementation="sdpa"',
            ),
        ),
        ask=_PIP_LIST,
        source_title="flash-attention, README",
        source_url="https://github.com/Dao-AILab/flash-attention#nvidia-cuda-support",
    ),
    Symptom(
        key="extension-without-gpu",
        message="RuntimeError: Not compiled with GPU support",
        patterns=(
            r"(?:wasn't|was not|weren't) (?:build|built|compiled) with (?P<detail>GPU|CUDA|HIP|ROCm)",
            r"Not compiled with (?P<detail>GPU|CUDA|HIP|ROCm|MPS)(?: support)?(?! enabled)",
            r"(?:not compiled|compiled without|built without) (?P<detail>GPU|CUDA|cuDNN|HIP|ROCm)(?: support)?",
            r"Could not find compatible (?P<detail>\w{2,40}) extension for compute capability",
            r"(?P<detail>CuPy|faiss|numba|LightGBM|XGBoost) is not correctly installed",
            r"No GPU (?:implementation|support|backend) (?:is )?(?:found|available|compiled)",
        ),
        anchors=(
            "wasn't build",
            "not built with",
            "wasn't compiled",
            "wasn't built",
            "not compiled with",
            "compiled without",
            "built without",
            "could not find compatible",
            "is not correctly installed",
            "no gpu",
        ),
        component="pytorch",
        meaning="The package runs, but its build has no code for this GPU: torch is not at fault.",
        causes=(
            Cause(
                text="Its build for the CPU is installed, or it was compiled where no toolkit and no card were found.",
                sign="Plain torch works: torch.ones(1, device='cuda') + 1 runs without an error.",
                remedy=(
                    "Install the package's build for this CUDA version, or compile it again with FORCE_CUDA=1 and "
                    "TORCH_CUDA_ARCH_LIST set to the card's compute capability."
                ),
            ),
            OTHER_TORCH,
        ),
        ask=_PIP_LIST,
        source_title=_CPP,
        source_url=_CPP_URL,
    ),
)
