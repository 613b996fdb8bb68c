"""What Windows says of itself beside a question about WSL: which build it is decides whether Linux gets a GPU."""

from stackviz.report.messages.symptom import Cause, Symptom

_GPU_IN_WSL = "Microsoft, Enable NVIDIA CUDA on WSL"
_GPU_IN_WSL_URL = "https://learn.microsoft.com/en-us/windows/ai/directml/gpu-cuda-in-wsl"
_UPDATE = "Update Windows to build 19044 (21H2) or newer; install NVIDIA's driver in Windows, and none in Linux."

SYMPTOMS = (
    Symptom(
        key="windows-before-wsl2",
        message="Microsoft Windows [Version 10.0.17763.292], in a text about WSL",
        patterns=(r"Windows \[Version (?P<os__build>10\.0\.1[4-7]\d{3}(?:\.\d{1,5})?)\][\s\S]{0,600}?\bWSL\b",),
        anchors=("windows [version 10.0.1",),
        component="windows",
        severity="note",
        meaning="This build of Windows has WSL 1 only, which offers no GPU to Linux programs.",
        causes=(Cause(text="Windows is older than WSL2.", remedy=_UPDATE),),
        ask="wsl --version",
        states={"os.wsl": "1"},
        rules=("wsl1-no-gpu",),
        source_title=_GPU_IN_WSL,
        source_url=_GPU_IN_WSL_URL,
    ),
    Symptom(
        key="windows-before-cuda-in-wsl",
        message="Microsoft Windows [Version 10.0.19042.867], in a text about WSL2",
        patterns=(
            (
                r"Windows \[Version (?P<os__build>10\.0\.(?:183\d\d|189\d\d|1904[0-3])(?:\.\d{1,5})?)\]"
                r"[\s\S]{0,600}?\bWSL ?2\b"
            ),
            (
                r"(?:### Windows (?:Version|build number:?)|Windows build number:)\s{0,6}"
                r"(?:Microsoft Windows \[Version )?"
                r"(?P<os__build>10\.0\.(?:183\d\d|189\d\d|1904[0-3])(?:\.\d{1,5})?)[\s\S]{0,600}?"
                r"(?:\[x\] WSL ?2|\bWSL2\b|WSL version: 2)"
            ),
        ),
        anchors=("windows [version 10.0.1", "windows version", "windows build number"),
        component="windows",
        severity="note",
        meaning="This build of Windows is too old for CUDA in WSL2.",
        causes=(Cause(text="Windows is older than build 19044 (21H2).", remedy=_UPDATE),),
        ask="wsl --version",
        states={"os.wsl": "2"},
        rules=("wsl2-old-windows",),
        source_title=_GPU_IN_WSL,
        source_url=_GPU_IN_WSL_URL,
    ),
)
