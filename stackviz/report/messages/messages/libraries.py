"""Libraries that do not load, or do not belong together."""

from stackviz.report.messages.commands import BLOCKING_RUN
from stackviz.report.messages.symptom import Cause, Symptom

_SHADOW = Cause(
    text="LD_LIBRARY_PATH puts an installed CUDA toolkit before the libraries that torch brings.",
    sign="echo $LD_LIBRARY_PATH names a folder of CUDA.",
    remedy="unset LD_LIBRARY_PATH",
)

SYMPTOMS = (
    Symptom(
        key="nvjitlink-symbol",
        message="ImportError: libcusparse.so.12: undefined symbol: __nvJitLinkAddData_12_1",
        patterns=(r"undefined symbol: (?P<detail>__nvJitLink\w{1,40})",),
        anchors=("undefined symbol: __nvjitlink",),
        component="cusparse",
        meaning="torch loads an older libnvJitLink than its own.",
        causes=(
            _SHADOW,
            Cause(
                text="The package nvidia-nvjitlink is older than the one torch asks for.",
                sign="python -m pip check names it.",
                remedy="Install torch again with its dependencies.",
            ),
        ),
        ask="echo $LD_LIBRARY_PATH",
        rules=("nvjitlink-shadow",),
        source_title="pytorch/pytorch issue 111469",
        source_url="https://github.com/pytorch/pytorch/issues/111469",
    ),
    Symptom(
        key="cudnn-not-loaded",
        message=(
            "Could not load library libcudnn_ops_infer.so.8. Error: libcudnn_ops_infer.so.8: cannot open shared "
            "object file"
        ),
        patterns=(
            r"(?:Could not load library|Unable to load any of) \W{0,3}(?P<detail>libcudnn\w{0,30}\.so\.\d[\d.]{0,12})",
            r"(?P<detail>libcudnn\w{0,30}\.so(?:\.\d[\d.]{0,12})?): cannot open shared object file",
            r"Could not (?:load|locate) (?:library )?(?P<detail>cudnn\w{0,30}\.dll)",
        ),
        anchors=("libcudnn", "cudnn_", "cudnn64"),
        component="cudnn",
        meaning=(
            "The program was built for a cuDNN of another major version than the one that is installed, or finds none."
        ),
        causes=(
            Cause(
                text=(
                    "The program needs cuDNN 8 (its file names end in 8) and cuDNN 9 is installed, or the other way "
                    "round."
                ),
                sign="The number behind .so. is not the major version of the installed cuDNN.",
                remedy="Install a release of the program for the cuDNN that is there, or the cuDNN it asks for.",
            ),
            _SHADOW,
            Cause(
                text="cuDNN is not installed: programs other than torch do not bring it.",
                sign="python -m pip list shows no nvidia-cudnn.",
                remedy="Install the package nvidia-cudnn-cu12 or nvidia-cudnn-cu13, for the CUDA of the program.",
                excluded_by=("cudnn-wheel-incomplete",),
            ),
        ),
        ask="python -m pip list",
        rules=("ld-library-path-cudnn", "ort-cudnn-major", "cudnn-wheel-incomplete"),
        source_title="cuDNN, installation on Linux",
        source_url="https://docs.nvidia.com/deeplearning/cudnn/installation/latest/linux.html",
    ),
    Symptom(
        key="cudnn-mixed",
        message=(
            "RuntimeError: cuDNN version incompatibility: PyTorch was compiled against (9, 1, 0) but found runtime "
            "version (8, 9, 7)"
        ),
        patterns=(
            (
                r"cuDNN version incompatibility: PyTorch was compiled against .{0,40}? but found runtime version "
                r"(?P<detail>\([\d, ]{1,20}\))"
            ),
            r"CUDNN_STATUS_(?:SUBLIBRARY_VERSION_MISMATCH|SUBLIBRARY_LOADING_FAILED|VERSION_MISMATCH)",
            r"Loaded runtime CuDNN library: (?P<detail>[\d.]{1,12}) but source was compiled with",
        ),
        anchors=("cudnn version incompatibility", "cudnn_status_", "loaded runtime cudnn"),
        component="cudnn",
        meaning="Parts of two cuDNN versions are loaded into one program.",
        causes=(
            _SHADOW,
            Cause(
                text="A package has replaced the cuDNN that torch brought.",
                sign="python -m pip check names nvidia-cudnn.",
                remedy="Install torch again with its dependencies, in an environment of its own.",
            ),
            Cause(
                text="A cuDNN of the system is found first.",
                sign="ldconfig -p | grep libcudnn lists it.",
                remedy="Remove that package, or give the program an environment of its own.",
            ),
        ),
        ask="echo $LD_LIBRARY_PATH; python -m pip list",
        rules=("ld-library-path-cudnn", "cudnn-wheel-incomplete", "ort-cudnn-major"),
        source_title="pytorch/pytorch issue 80877",
        source_url="https://github.com/pytorch/pytorch/issues/80877",
    ),
    Symptom(
        key="cuda-library-missing",
        message="OSError: libcudart.so.12: cannot open shared object file: No such file or directory",
        patterns=(
            (
                r"(?P<detail>lib(?:cudart|cublas|cublasLt|cufft|curand|cusolver|cusparse|nvrtc|nccl|cupti)"
                r"\.so\.\d[\d.]{0,12}): "
                r"cannot open shared object file"
            ),
            r"Could not load dynamic library '(?P<detail>lib\w{1,30}\.so\.\d[\d.]{0,12})'",
        ),
        anchors=("cannot open shared object", "could not load dynamic library"),
        component="cuda-runtime",
        meaning=(
            "A program was built for a CUDA version whose libraries are not here. The number behind .so. is that "
            "version."
        ),
        causes=(
            Cause(
                text="The package was built for another CUDA version than the one installed.",
                sign="The number in the file name is not that of nvcc --version or of torch.version.cuda.",
                remedy="Install the package's build for the CUDA version that is here.",
            ),
            Cause(
                text="The libraries are there, and no folder that is searched has them.",
                sign="find / -name 'libcudart.so*' finds the file.",
                remedy=(
                    "Import torch first, which loads its own, or add the folder to LD_LIBRARY_PATH for this program "
                    "only."
                ),
            ),
        ),
        ask="python -m pip list",
        source_title="CUDA Installation Guide for Linux",
        source_url="https://docs.nvidia.com/cuda/cuda-installation-guide-linux/",
    ),
    Symptom(
        key="cublas-error",
        message="RuntimeError: CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`",
        patterns=(
            r"CUBLAS_STATUS_(?P<detail>NOT_INITIALIZED|ALLOC_FAILED|INTERNAL_ERROR|EXECUTION_FAILED|NOT_SUPPORTED)",
        ),
        anchors=("cublas_status_",),
        component="cublas",
        meaning="The library of matrix products could not start, or a product failed.",
        causes=(
            Cause(
                text="The card has no free memory left.",
                sign="nvidia-smi shows it nearly full.",
                remedy="A smaller batch, or end other programs.",
            ),
            Cause(
                text="An earlier kernel failed, and this is only where it shows.",
                sign="With CUDA_LAUNCH_BLOCKING=1 another error stands first, often a device-side assert.",
                remedy="Mend that one.",
            ),
            _SHADOW,
        ),
        ask=BLOCKING_RUN,
        source_title="cuBLAS, cublasStatus_t",
        source_url="https://docs.nvidia.com/cuda/cublas/index.html#cublasstatus-t",
    ),
    Symptom(
        key="nccl-error",
        message="torch.distributed.DistBackendError: NCCL error: unhandled system error",
        patterns=(
            (
                r"NCCL (?:error|WARN).{0,120}?(?P<detail>unhandled (?:system|cuda) error|invalid usage|"
                r"remote process exited|"
                r"Duplicate GPU detected)"
            ),
            r"ncclUnhandledCudaError|ncclSystemError|ncclInternalError|ncclInvalidUsage",
        ),
        anchors=("nccl error", "nccl warn", "ncclunhandled", "ncclsystem", "ncclinternal", "ncclinvalid"),
        component="nccl",
        meaning=(
            "NCCL, which exchanges data between cards, failed. The message alone does not name the cause; its log does."
        ),
        causes=(
            Cause(
                text="The container has too little shared memory.",
                sign="df -h /dev/shm shows 64M.",
                remedy="Start it with --ipc=host or --shm-size=8g.",
            ),
            Cause(
                text="Two processes use one card, or a process uses a card that is not there.",
                sign="The log says Duplicate GPU detected, or names a device number that nvidia-smi -L lacks.",
                remedy="One process a card: torchrun --nproc-per-node with the number of cards.",
            ),
            Cause(
                text="The machines do not reach each other on the interface that NCCL chose.",
                sign="The log ends at NET/Socket or NET/IB.",
                remedy="Name the interface: export NCCL_SOCKET_IFNAME=eth0",
            ),
        ),
        ask="NCCL_DEBUG=INFO python your_program.py",
        source_title="NCCL, troubleshooting",
        source_url="https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html",
    ),
    Symptom(
        key="flash-attn-symbol",
        message="ImportError: flash_attn_2_cuda.cpython-311-x86_64-linux-gnu.so: undefined symbol: _ZN3c105ErrorC2E",
        patterns=(r"flash_attn_\w{0,20}cuda[\w.-]{0,60}\.so: undefined symbol: (?P<detail>\w{1,120})",),
        anchors=("flash_attn_",),
        component="flash-attn",
        meaning="FlashAttention was built for another release of torch, another CUDA version or another C++ ABI.",
        causes=(
            Cause(
                text="torch was upgraded after flash-attn was installed.",
                sign="The wheel of flash-attn names another torch than torch.__version__.",
                remedy="Install the wheel for this torch, this CUDA version and this C++ ABI.",
                excluded_by=("flash-attn-abi",),
            ),
        ),
        ask="python -m pip list",
        rules=("flash-attn-abi",),
        source_title="Dao-AILab/flash-attention issue 919",
        source_url="https://github.com/Dao-AILab/flash-attention/issues/919",
    ),
    Symptom(
        key="c10-symbol",
        message=(
            "ImportError: _C.cpython-311-x86_64-linux-gnu.so: undefined symbol: "
            "_ZN3c106detail14torchCheckFailEPKcS2_jRKSs"
        ),
        patterns=(r"undefined symbol: (?P<detail>_ZN?K?(?:2at|3c10|5torch)\w{1,160})",),
        anchors=("undefined symbol: _z",),
        component="pytorch",
        meaning=(
            "A package with code of its own was built for another release of torch: a function that it calls is gone."
        ),
        causes=(
            Cause(
                text="torch was upgraded or replaced after the package was installed.",
                sign="The file in the message belongs to the package; python -m pip check may name it.",
                remedy=(
                    "Install the package's release for this torch, or build it again: pip install "
                    "--no-build-isolation --force-reinstall --no-deps <package>"
                ),
            ),
        ),
        ask="python -m pip list",
        rules=("companion-version", "flash-attn-abi", "torch-versions-disagree"),
        source_title="PyTorch, custom C++ and CUDA extensions",
        source_url="https://docs.pytorch.org/tutorials/advanced/cpp_custom_ops.html",
    ),
    Symptom(
        key="ijit-symbol",
        message="ImportError: libtorch_cpu.so: undefined symbol: iJIT_NotifyEvent",
        patterns=(r"undefined symbol: (?P<detail>iJIT_\w{1,40})",),
        anchors=("undefined symbol: ijit",),
        component="mkl",
        meaning="conda installed a MKL 2024.1 or newer beside a torch that was built for an older one.",
        causes=(
            Cause(
                text="The environment's mkl is newer than torch's.",
                sign="conda list mkl shows 2024.1 or newer.",
                remedy="conda install 'mkl<2024.1'",
            ),
        ),
        ask="conda list",
        source_title="pytorch/pytorch issue 123097",
        source_url="https://github.com/pytorch/pytorch/issues/123097",
    ),
    Symptom(
        key="glibc-too-old",
        message="ImportError: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.28' not found",
        patterns=(r"version [`'](?P<detail>(?:GLIBC(?:XX)?|CXXABI)_[\d.]{3,8})' not found",),
        anchors=("version `glibc", "version 'glibc", "version `cxxabi", "version 'cxxabi"),
        component="linux",
        meaning="The program was built for a newer Linux than this one.",
        causes=(
            Cause(
                text="The distribution is too old for this release of the package.",
                sign="ldd --version shows an older version than the message names.",
                remedy="Use a newer distribution or a container of one, or an older release of the package.",
            ),
            Cause(
                text="For GLIBCXX: an older libstdc++ is found first.",
                sign="The environment has a libstdc++.so.6 of its own.",
                remedy="conda install -c conda-forge libstdcxx-ng",
            ),
        ),
        ask="ldd --version",
        source_title="PEP 600: manylinux tags name the glibc that a wheel needs",
        source_url="https://peps.python.org/pep-0600/",
    ),
    Symptom(
        key="windows-dll",
        message=(
            'OSError: [WinError 126] The specified module could not be found. Error loading "torch\\lib\\shm.dll" or '
            "one of its dependencies."
        ),
        patterns=(
            r"\[WinError (?:126|127|1114|193)\] [^\n]{0,80}?'(?P<detail>[\w.-]{1,60}\.(?:dll|pyd))'",
            r"(?<![\w.-])(?P<detail>[\w.-]{2,60}\.dll) was not found",
            r"(?<![\w.-])(?P<detail>[\w.-]{2,60}\.dll) (?:is missing|not found)",
            r"\[WinError (?:126|127|1114|193|182)\].{0,99}?Error loading .{0,99}?(?P<detail>[\w.-]{1,60}\.(?:dll|pyd))",
            r"DLL load failed while importing (?!libtriton)(?P<detail>\w{1,60})",
            r"Could not find module '(?:[^'\n]{0,160}[\\/])?(?P<detail>[\w.-]{1,60}\.dll)'",
            r"(?<!\[)WinError (?:126|127|1114)\b.{0,99}?Error loading .{0,99}?(?P<detail>[\w.-]{1,60}\.(?:dll|pyd))",
            r"(?:\[WinError 193\]|WinError 193:?) (?P<detail>%1 is not a valid Win32 application)",
        ),
        anchors=(
            ".dll was not",
            ".dll is missing",
            ".dll not found",
            "could not find module",
            "[winerror",
            "error loading",
            "dll load failed",
        ),
        component="windows",
        meaning="Windows cannot load a library of the package, or one that it depends on.",
        causes=(
            Cause(
                text="The Microsoft Visual C++ Redistributable is missing or old.",
                sign="Apps & features lists none of 2015-2022 for x64.",
                remedy="Install it: https://aka.ms/vs/17/release/vc_redist.x64.exe",
            ),
            Cause(
                text="The environment mixes packages of conda and pip, or of two Python versions.",
                sign="conda list shows pypi beside torch, and mkl or openmp from conda.",
                remedy="Make a new environment and install with one tool.",
            ),
            Cause(
                text="The Python is 32-bit or from the Microsoft Store.",
                sign="python -c \"import struct; print(struct.calcsize('P'))\" prints 4.",
                remedy="Install 64-bit Python from python.org.",
            ),
        ),
        ask="python -m pip list",
        states={"os.name": "Windows"},
        source_title="PyTorch, Windows FAQ",
        source_url="https://docs.pytorch.org/docs/stable/notes/windows.html",
    ),
)
