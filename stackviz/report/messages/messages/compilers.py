"""Compilers for extensions: missing, too new, out of memory; headers and libraries that they do not find."""

from stackviz.report.messages.commands import COLLECT_ENV, NVIDIA_SMI
from stackviz.report.messages.messages.building import BUILD, BUILD_URL, NVCC, READY_MADE
from stackviz.report.messages.symptom import Cause, Symptom

_COMPILERS = "CUDA Installation Guide for Linux, host compiler support"
_COMPILERS_URL = "https://docs.nvidia.com/cuda/cuda-installation-guide-linux/#host-compiler-support-policy"

SYMPTOMS = (
    Symptom(
        key="compiler-too-new",
        message="#error -- unsupported GNU version! gcc versions later than 14 are not supported!",
        patterns=(
            r"(?P<detail>-std=c\+\+\d{2}) flag is not supported with the configured host compiler",
            r"unsupported GNU version! gcc versions later than (?P<detail>\d{1,2}) are not supported",
            r"unsupported (?:clang|Microsoft Visual Studio) version",
            r"#error ?-- ?unsupported",
            (
                r"The current installed version of (?P<detail>\S{1,60} \(?[\d.]{1,12}\)?) is (?:less|greater) than the "
                r"\w{1,12} required"
            ),
        ),
        anchors=(
            "configured host compiler",
            "unsupported gnu",
            "unsupported clang",
            "unsupported microsoft",
            "-- unsupported",
            "current installed version",
        ),
        component="gcc",
        meaning="This CUDA toolkit takes no compiler as new (or as old) as the one here.",
        causes=(
            Cause(
                text="The compiler is newer than the toolkit knows.",
                sign="The message names the newest that it takes; collect_env shows a newer GCC.",
                remedy=(
                    "Install that compiler too and name it: export CC=gcc-13 CXX=g++-13 NVCC_PREPEND_FLAGS='-ccbin "
                    "g++-13' "
                    "(with the number of the message)"
                ),
                only_on=("linux",),
            ),
            Cause(
                text="Visual Studio is newer than the toolkit knows.",
                sign="The message names the editions that it takes.",
                remedy="Install the build tools of such an edition, or a newer toolkit of torch's major version.",
                favoured_by=("windows",),
                only_on=("windows",),
            ),
            Cause(
                text="The toolkit is older than the system.",
                sign="nvcc --version names an older release of the same major version.",
                remedy="Install the newest toolkit of torch's major version: it takes newer compilers.",
            ),
        ),
        ask=COLLECT_ENV,
        source_title=_COMPILERS,
        source_url=_COMPILERS_URL,
    ),
    Symptom(
        key="compiler-missing",
        message="error: command 'gcc' failed: No such file or directory",
        patterns=(
            (
                r"command '(?:\S{0,80}[/-])?(?P<detail>(?:gcc|g\+\+|cc|c\+\+|clang\+?\+?|cl)(?:\.exe)?)' failed: No "
                r"such file"
            ),
            r"Failed to find C compiler",
            r"(?P<detail>gcc|g\+\+|c\+\+|x86_64-linux-gnu-gcc): (?:command )?not found",
            r"No CMAKE_CXX_COMPILER could be found",
            r"unable to execute '(?P<detail>[\w+./-]{1,60})': No such file",
            r"(?:gcc|g\+\+): fatal error: cannot execute '(?P<detail>cc1(?:plus)?)'",
        ),
        anchors=(
            "' failed: no such file",
            "find c compiler",
            "gcc: command not found",
            "g++: command not found",
            "gcc: not found",
            "g++: not found",
            "c++: not found",
            "cmake_cxx_compiler",
            "unable to execute",
            "cannot execute",
        ),
        component="gcc",
        meaning="Something is compiled here, and no compiler for C and C++ is found.",
        causes=(
            Cause(
                text="No compiler is installed.",
                sign="collect_env says GCC version: Could not collect.",
                remedy=(
                    "Ubuntu and Debian: sudo apt install build-essential. Fedora and Rocky: sudo dnf install gcc "
                    "gcc-c++"
                ),
                only_on=("linux",),
            ),
            Cause(
                text="The command line tools of Xcode are missing.",
                sign="xcode-select -p fails.",
                remedy="xcode-select --install",
                only_on=("mac",),
            ),
            Cause(
                text="An image without compilers is used.",
                sign="The name of the image ends in -runtime or -slim.",
                remedy="Use the image of the same release that ends in -devel.",
                favoured_by=("container",),
            ),
            READY_MADE,
        ),
        ask=COLLECT_ENV,
        source_title=_COMPILERS,
        source_url=_COMPILERS_URL,
    ),
    Symptom(
        key="msvc-missing",
        message='error: Microsoft Visual C++ 14.0 or greater is required. Get it with "Microsoft C++ Build Tools"',
        patterns=(
            r"Microsoft Visual C\+\+ \d{2}\.\d (?:or greater )?is required",
            r"Cannot find compiler 'cl(?:\.exe)?' in PATH",
            r"Error checking compiler version for cl\b",
            r"'cl(?:\.exe)?' is not recognized",
            r"Unable to find vcvarsall\.bat",
            r"Could not find (?:MSVC|Visual Studio)",
        ),
        anchors=(
            "microsoft visual c++",
            "compiler 'cl",
            "version for cl",
            "'cl",
            "vcvarsall",
            "find msvc",
            "visual studio",
        ),
        component="windows",
        meaning="An extension is compiled here, and Windows has no compiler for it, or this shell does not find it.",
        causes=(
            Cause(
                text="Microsoft's build tools for C++ are not installed.",
                sign="There is no x64 Native Tools Command Prompt in the start menu.",
                remedy=(
                    "Install them with the workload for C++: https://visualstudio.microsoft.com/visual-cpp-build-tools/"
                ),
            ),
            Cause(
                text="The shell was opened without the environment of the compiler.",
                sign="It works in the x64 Native Tools Command Prompt.",
                remedy="Start the installation there.",
            ),
            READY_MADE,
        ),
        ask=COLLECT_ENV,
        states={"os.name": "Windows"},
        source_title="PyTorch, Windows FAQ: building extensions",
        source_url="https://docs.pytorch.org/docs/stable/notes/windows.html",
    ),
    Symptom(
        key="python-headers",
        message="fatal error: Python.h: No such file or directory",
        patterns=(
            r"Python\.h['\"]?: No such file or directory",
            r"'Python\.h' file not found",
            r"cannot open include file: 'Python\.h'",
        ),
        anchors=("python.h",),
        component="python",
        meaning=(
            "Code for Python is compiled (Triton does so at run time), and the header files of this Python are missing."
        ),
        causes=(
            Cause(
                text="The package with the headers is not installed.",
                sign="The folder include of this Python has no Python.h.",
                remedy=(
                    "Ubuntu and Debian: sudo apt install python3-dev. Fedora and Rocky: sudo dnf install python3-devel"
                ),
            ),
            Cause(
                text="An embedded Python has no headers.",
                sign="The path has python_embeded in it.",
                remedy="Copy include and libs of the same release of Python into its folder, or use a full Python.",
                favoured_by=("windows",),
                only_on=("windows",),
            ),
        ),
        ask=COLLECT_ENV,
        source_title="Python, building C and C++ extensions",
        source_url="https://docs.python.org/3/extending/building.html",
    ),
    Symptom(
        key="header-missing",
        message="fatal error: cuda_runtime.h: No such file or directory",
        patterns=(
            (
                r"(?P<detail>CUTLASS|cuDNN|NCCL|cuBLAS|MPI|OpenMP|libaio|MKL|OpenBLAS) (?:library|libraries|headers?) "
                r"(?:was |were |is )?not found"
            ),
            r"Could NOT find (?!CUDA|Python|Git)(?P<detail>\w{2,30}) \(missing",
            r"requires the dev (?P<detail>[\w-]{2,30}) \.so object and headers",
            r"fatal error: (?!Python\.h)(?P<detail>[\w./+-]{1,80}\.h(?:pp)?)['\"]?:? (?:No such file|file not found)",
            r"[Cc]annot open (?:include|source) file:? ['\"](?!Python\.h)(?P<detail>[\w./+-]{1,80}\.h(?:pp)?)",
        ),
        anchors=(
            "not found; build",
            "library not found",
            "libraries not found",
            "headers not found",
            "header not found",
            "could not find",
            "requires the dev",
            "fatal error:",
            "cannot open include",
            "cannot open source",
        ),
        component="cuda-toolkit",
        meaning="Code is compiled here, and a header file that it includes is in no folder that is searched.",
        causes=(
            Cause(
                text="The package with the header is not installed; cuda*.h and cublas*.h are of the CUDA toolkit.",
                sign="find / -name of the header finds nothing.",
                remedy=(
                    "Install the toolkit, or the -dev (-devel) package of the library; for images take the -devel one."
                ),
            ),
            Cause(
                text="It is there, and the folder is not searched.",
                sign="find / -name of the header finds it.",
                remedy="export CPATH with the folder (for this shell), or CUDA_HOME for the toolkit's.",
            ),
            READY_MADE,
        ),
        ask=NVCC,
        source_title=BUILD,
        source_url=BUILD_URL,
    ),
    Symptom(
        key="compiler-killed",
        message="c++: fatal error: Killed signal terminated program cc1plus",
        patterns=(
            r"internal compiler error: Killed",
            r"Killed signal terminated program (?P<detail>cc1\w{0,4}|cicc|ptxas|lto1)",
            r"nvcc error ?: '(?P<detail>cicc|ptxas|cudafe\+\+)' died (?:due to signal \d{1,2}|with status)",
            r"virtual memory exhausted: Cannot allocate memory",
            r"C1060: compiler is out of heap space",
        ),
        anchors=("compiler error: killed", "killed signal", "' died", "virtual memory exhausted", "c1060"),
        component="gcc",
        meaning="The system ended the compiler, because the memory of the machine was full.",
        causes=(
            Cause(
                text="More compilers run at the same time than fit the memory: each may take several GB.",
                sign="The machine has less than 4 GB of memory for each core.",
                remedy="export MAX_JOBS=2 (and again), or a machine or container with more memory.",
            ),
            READY_MADE,
        ),
        ask=COLLECT_ENV,
        source_title="flash-attention, README: MAX_JOBS",
        source_url="https://github.com/Dao-AILab/flash-attention#installation-and-features",
    ),
    Symptom(
        key="ninja-missing",
        message="RuntimeError: Ninja is required to load C++ extensions (pip install ninja to get it)",
        patterns=(
            r"Ninja is required to load C\+\+ extensions",
            r"CMAKE_MAKE_PROGRAM is not set",
            r"we could not find ninja",
        ),
        anchors=("ninja is required", "cmake_make_program", "could not find ninja"),
        component="cmake",
        meaning="The program that runs the compilers, Ninja, is not found.",
        causes=(
            Cause(
                text="It is not installed in this environment.",
                sign="The list of packages does not name it.",
                remedy="pip install ninja",
            ),
        ),
        ask="python -m pip list",
        source_title=BUILD,
        source_url=BUILD_URL,
    ),
    Symptom(
        key="linker-no-cuda",
        message="/usr/bin/ld: cannot find -lcuda: No such file or directory",
        patterns=(
            r"nvlink (?:error|fatal) ?: [^\n]{3,80}",
            r"ptxas fatal ?: Unresolved extern function '(?P<detail>\w{1,80})'",
            r"undefined reference to [`'](?P<detail>[^'\n]{1,80})'",
            r"LNK(?:1104|1120|2001|2019): [^\n]{3,80}",
            r"cannot find -l(?P<detail>cuda(?:rt)?|cublas|cudnn|nvrtc|c10(?:_cuda)?|torch\w{0,12})\b",
            r"LNK1181: cannot open input file '(?P<detail>\w{1,40}\.lib)'",
        ),
        anchors=(
            "nvlink",
            "unresolved extern",
            "undefined reference",
            "lnk1104",
            "lnk1120",
            "lnk2001",
            "lnk2019",
            "cannot find -l",
            "lnk1181",
        ),
        component="cuda-toolkit",
        meaning=(
            "The linker does not find a library. Triton links with libcuda of the driver when a kernel is first "
            "compiled."
        ),
        causes=(
            Cause(
                text="The folder of the library is not searched: libcuda.so is there under another name or elsewhere.",
                sign="ldconfig -p | grep libcuda lists only libcuda.so.1.",
                remedy=(
                    "export LIBRARY_PATH=/usr/local/cuda/lib64/stubs:$LIBRARY_PATH (for this shell); in WSL "
                    "/usr/lib/wsl/lib"
                ),
            ),
            Cause(
                text="The driver or the toolkit is not installed here.",
                sign="nvidia-smi or nvcc --version fails.",
                remedy="Install what fails, or start the container with --gpus all.",
                favoured_by=("container",),
            ),
        ),
        ask=NVIDIA_SMI,
        source_title="Triton, third_party/nvidia/backend/driver.py",
        source_url="https://github.com/triton-lang/triton/blob/main/third_party/nvidia/backend/driver.py",
    ),
)
