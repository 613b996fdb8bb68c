"""Extensions are compiled: the toolkit, the compilers, what they lack and what they refuse."""

from stackviz.report.messages.symptom import Cause, Symptom

BUILD = "PyTorch, torch/utils/cpp_extension.py"
BUILD_URL = "https://github.com/pytorch/pytorch/blob/main/torch/utils/cpp_extension.py"
NVCC = "nvcc --version"
READY_MADE = Cause(
    text="A wheel would do, and none was there for this Python, this torch and this CUDA.",
    sign="The line before it says Building wheel.",
    remedy="Take a release of the package that has a wheel for this torch: nothing is compiled then.",
)

_TOOLKIT = Symptom(
    key="cuda-home",
    message="OSError: CUDA_HOME environment variable is not set. Please set it to your CUDA install root.",
    patterns=(
        r"CUDA_HOME environment variable is (?:not set|undefined)",
        r"CUDA_(?:HOME|PATH) (?:does not exist|is not set|is undefined|is None|not defined|is not defined)",
        r"(?:could not|cannot|failed to|unable to) (?:determine|locate) (?:CUDA_HOME|CUDA_PATH|CUDA toolkit)",
        r"libNVVM cannot be found",
        r"MissingCUDAException",
        r"nvcc ?(?:was not found|not found|: command not found|: not found)",
        r"No such file or directory: '[^'\n]{0,120}(?P<detail>nvcc)'",
        r"(?:cannot|could not|unable to) find (?:the )?nvcc",
    ),
    anchors=("cuda_home", "cuda_path", "missingcudaexception", "libnvvm", "cuda toolkit", "nvcc"),
    component="cuda-toolkit",
    meaning="An extension is compiled here, and the CUDA toolkit with its compiler nvcc is not found.",
    causes=(
        Cause(
            text="No toolkit is installed: the driver and torch bring none, and nvidia-smi names none.",
            sign="nvcc --version fails.",
            remedy=(
                "Install the toolkit of the CUDA version that torch.version.cuda names: "
                "https://developer.nvidia.com/cuda-toolkit-archive, or conda install -c nvidia cuda-toolkit"
            ),
        ),
        Cause(
            text="It is installed, and no variable names its folder.",
            sign="/usr/local has a folder cuda.",
            remedy="Put its folder bin first in PATH, and: export CUDA_HOME=/usr/local/cuda (for this shell)",
        ),
        READY_MADE,
    ),
    ask=NVCC,
    source_title=BUILD,
    source_url=BUILD_URL,
)
_CMAKE = Symptom(
    key="cmake-no-cuda",
    message="CMake Error: No CMAKE_CUDA_COMPILER could be found.",
    patterns=(
        r"No CMAKE_CUDA_COMPILER could be found",
        r"Could NOT find CUDA(?:Toolkit)? \(",
        r"CMAKE_CUDA_COMPILER(?:-NOTFOUND| not set)",
        r"Failed to find nvcc",
        r"CUDA Toolkit not found",
        r"Specify CUDA_TOOLKIT_ROOT_DIR",
    ),
    anchors=(
        "cmake_cuda_compiler",
        "could not find cuda",
        "failed to find nvcc",
        "toolkit not found",
        "cuda_toolkit_r",
    ),
    component="cmake",
    meaning="CMake looks for the CUDA toolkit with its compiler nvcc and does not find it.",
    causes=_TOOLKIT.causes[:2],
    ask=NVCC,
    source_title="CMake, FindCUDAToolkit",
    source_url="https://cmake.org/cmake/help/latest/module/FindCUDAToolkit.html",
)
_MISMATCH = Symptom(
    key="toolkit-other-cuda",
    message=(
        "RuntimeError: The detected CUDA version (13.1) mismatches the version that was used to compile PyTorch "
        "(12.8). Please make sure to use the same CUDA versions."
    ),
    patterns=(
        (
            r"The detected CUDA version \((?P<detail>\d{1,2}\.\d{1,2})\) mismatches the version that was used to "
            r"compile PyTorch \((?P<torch__cuda_version>\d{1,2}\.\d)\)"
        ),
        (
            r"Installed CUDA version (?P<detail>\d{1,2}\.\d{1,2}) does not match the version torch was compiled with "
            r"(?P<torch__cuda_version>\d{1,2}\.\d)"
        ),
        r"CUDAMismatchException",
        r"compiled with a version of CUDA that does not match the version used to compile PyTorch",
        r"(?:nvcc|CUDA toolkit) version (?P<detail>\d{1,2}\.\d{1,2}) (?:does not match|differs from) (?:Py)?torch",
    ),
    anchors=(
        "detected cuda version",
        "installed cuda version",
        "cudamismatchexception",
        "version used to compile pytorch",
        "nvcc version",
        "toolkit version",
    ),
    component="cuda-toolkit",
    meaning=(
        "An extension is compiled with nvcc of another CUDA version than torch has: the major version has to agree."
    ),
    causes=(
        Cause(
            text="The toolkit is of another major version than torch.",
            sign="nvcc --version and torch.version.cuda differ before the dot.",
            remedy=(
                "Install the toolkit of torch's version next to the other and name it for this build: "
                "export CUDA_HOME=/usr/local/cuda-<version of torch>"
            ),
        ),
        Cause(
            text="torch could be of the toolkit's version.",
            sign="torch is published for the CUDA of nvcc --version, and the driver serves it.",
            remedy="Install that build of torch instead; builds for CUDA 13 need driver 580 or newer.",
        ),
        READY_MADE,
    ),
    ask=NVCC,
    source_title=BUILD,
    source_url=BUILD_URL,
)
_ARCH = Symptom(
    key="nvcc-unknown-arch",
    message="nvcc fatal   : Unsupported gpu architecture 'compute_120'",
    patterns=(
        r"nvcc fatal ?: Value '(?P<detail>[\w-]{1,20})' is not defined for option",
        r"nvcc fatal ?: Unsupported gpu architecture '(?P<detail>\w{1,20})'",
        r"CMAKE_CUDA_ARCHITECTURES must be (?:non-empty|valid)",
        r"Unknown CUDA arch \((?P<detail>[\w.+]{1,12})\) or GPU not supported",
        r"No supported CUDA architectures? (?:found|are)",
    ),
    anchors=(
        "is not defined for option",
        "gpu architecture",
        "cmake_cuda_architectures",
        "unknown cuda arch",
        "supported cuda arch",
    ),
    component="cuda-toolkit",
    meaning=(
        "The toolkit is asked for code for a card that it does not know: it is older than the card, or has dropped it."
    ),
    causes=(
        Cause(
            text="nvcc is older than the card.",
            sign=(
                "nvcc --version is below 12.8 for Blackwell (compute_100, compute_120), below 11.8 for Hopper and Ada."
            ),
            remedy="Install a newer toolkit of torch's major version.",
        ),
        Cause(
            text="nvcc has dropped an old card: CUDA 13 makes no code below 7.5.",
            sign="The number in the message is below 75.",
            remedy="Leave it out of TORCH_CUDA_ARCH_LIST or CMAKE_CUDA_ARCHITECTURES, or use a toolkit of CUDA 12.",
        ),
        Cause(
            text="The build names no card, or one that it does not know.",
            sign="TORCH_CUDA_ARCH_LIST or CMAKE_CUDA_ARCHITECTURES is empty or not a number.",
            remedy="Name the card's compute capability: nvidia-smi --query-gpu=name,compute_cap --format=csv",
        ),
    ),
    ask=NVCC,
    source_title="CUDA Compiler Driver NVCC, GPU feature list",
    source_url="https://docs.nvidia.com/cuda/cuda-compiler-driver-nvcc/index.html#gpu-feature-list",
)
_TOOLS = Symptom(
    key="build-tools-version",
    message="CMake Error at CMakeLists.txt:1: CMake 3.26 or higher is required. You are running version 3.22.1",
    patterns=(
        r"(?P<detail>CMake \d\.\d{1,2}) or higher is required",
        r"Compatibility with (?P<detail>CMake < \d\.\d{1,2}) has been removed",
        r"Unknown compiler\(s\):",
        r"can't find (?P<detail>Rust) compiler",
        r"invalid command '(?P<detail>bdist_wheel|editable_wheel)'",
        r"No module named '?(?P<detail>pkg_resources|distutils|setuptools|wheel|packaging|ninja)\b",
        r"module 'pkgutil' has no attribute '(?P<detail>ImpImporter)'",
        r"cannot import name '\w{1,40}' from '(?P<detail>pkg_resources|distutils|setuptools)",
        r"(?P<detail>cmake|ninja|meson|rustc|cargo|swig|git)(?:: command not found| (?:is not|must be) installed)",
    ),
    anchors=(
        "rust compiler",
        "or higher is required",
        "compatibility with cmake",
        "unknown compiler(s)",
        "invalid command '",
        "no module named",
        "'pkgutil'",
        "cannot import name",
        ": command not found",
        "must be installed",
        "is not installed",
    ),
    component="cmake",
    meaning="A tool that builds packages (CMake, setuptools) is missing, too old, or newer than the package takes.",
    causes=(
        Cause(
            text="It is missing in this environment, or older than the package asks for.",
            sign="python -m pip list lacks it or shows a lower version.",
            remedy="pip install --upgrade pip setuptools wheel packaging cmake ninja",
        ),
        Cause(
            text="The package is older than this Python or this tool: distutils ended with Python 3.12.",
            sign="Python is 3.12 or newer, or setuptools 80 or newer.",
            remedy="Install a newer release of the package, or use the Python that it was made for.",
        ),
        READY_MADE,
    ),
    ask="python -m pip list",
    source_title=BUILD,
    source_url=BUILD_URL,
)
_FAILED = Symptom(
    key="extension-not-built",
    message="RuntimeError: Error compiling objects for extension",
    patterns=(
        r"CMake Error(?: at [^\n]{1,120}| in [^\n]{1,60})?: ",
        r"(?:gcc|g\+\+|\bcc|c\+\+|clang)(?:-\d{1,2})?: (?:fatal )?error: [^\n]{3,80}",
        r"LINK : fatal error LNK\d{4}",
        r"nvcc fatal ?: (?!Unsupported gpu|Value ')[^\n]{3,80}",
        r"(?:collect2|clang|ld): (?:error: )?(?:ld|linker)[^\n]{0,30} (?:returned|failed with exit)[^\n]{0,40}",
        r"Error compiling objects for extension",
        r"Error building extension '(?P<detail>[\w.-]{1,60})'",
        r"Command '\['(?P<detail>ninja)', '-v'[^\]\n]{0,40}\]' returned non-zero exit status",
        r"Failed building wheel for (?P<detail>[\w.-]{1,60})",
        r"Failed to build (?:installable wheels for some pyproject\.toml based projects|`?(?P<detail>[\w.=-]{1,60})`?)",
        r"command '\S{0,80}nvcc(?:\.exe)?' failed with exit (?:code|status) \d{1,6}",
        r"command '\S{0,80}(?:gcc|g\+\+|cc|c\+\+|cl\.exe|cl)' failed with exit (?:code|status) \d{1,12}",
        r"Unable to pre-compile (?P<detail>\w{1,40})",
        r"metadata-generation-failed",
        r"ninja: build stopped: subcommand failed",
        r"\d{1,4} errors? detected in the compilation of \"",
        r"error: (?:identifier \"[^\"\n]{1,80}\" is undefined|expected [^\n]{3,60} before|no matching function)",
        r"error C\d{4}: [^\n]{3,80}",
        r"did not complete successfully: exit code: \d{1,3}",
        r"Could not build wheels for (?P<detail>[\w.-]{1,60})",
        r"(?:The build backend returned an error|build backend failed|had build failures)",
        r"(?:make|gmake)(?:\[\d\])?: \*\*\* \[[^\n]{1,120}\] Error \d{1,3}",
        r"subprocess-exited-with-error",
    ),
    anchors=(
        "cmake error",
        "gcc: error",
        "g++: error",
        "cc: error",
        "c++: error",
        "clang: error",
        "link : fatal",
        "nvcc fatal",
        "collect2: error",
        "linker command failed",
        "detected in the compilation",
        "error: identifier",
        "error: expected",
        "error: no",
        "error c2",
        "did not complete successfully",
        "error compiling objects",
        "error building extension",
        "'-v'",
        "failed building wheel",
        "failed to build",
        "failed with exit",
        "unable to pre-compile",
        "ninja: build stopped",
        "could not build wheels",
        "build backend",
        "had build failures",
        ": *** [",
        "metadata-generation-failed",
        "subprocess-exited-with-error",
    ),
    component="python",
    severity="warning",
    is_general=True,
    meaning="A package is compiled here, and that fails: the reason is in a line above this one that has error: in it.",
    causes=(
        Cause(
            text="The toolkit or a compiler is missing, or does not fit.",
            sign="An earlier line names nvcc, CUDA_HOME, gcc, cl or a header file.",
            remedy="Paste the whole output: that line decides.",
        ),
        READY_MADE,
        Cause(
            text="The package is older than this Python or this torch and does not compile with it.",
            sign="The earlier lines name functions that do not exist.",
            remedy="Install its newest release, or the Python that it was made for.",
        ),
    ),
    ask=NVCC,
    source_title=BUILD,
    source_url=BUILD_URL,
)

SYMPTOMS = (_TOOLKIT, _CMAKE, _MISMATCH, _ARCH, _TOOLS, _FAILED)
