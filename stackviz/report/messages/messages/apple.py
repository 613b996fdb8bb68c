"""Macs: the device mps."""

from stackviz.report.messages.commands import COLLECT_ENV, PYTHON_INFO
from stackviz.report.messages.symptom import Cause, Symptom

_MPS_NOTES = "PyTorch, MPS backend"
_MPS_NOTES_URL = "https://docs.pytorch.org/docs/stable/notes/mps.html"
_MPS_VARIABLES = "PyTorch, MPS environment variables"
_MPS_VARIABLES_URL = "https://docs.pytorch.org/docs/stable/mps_environment_variables.html"

_DYLD = "Apple, building a universal macOS binary"
_DYLD_URL = "https://developer.apple.com/documentation/apple-silicon/building-a-universal-macos-binary"


def _other_architecture(key: str, file: str, process: str, meaning: str, causes: tuple[Cause, ...]) -> Symptom:
    """Return the message of macOS that a library of `file` cannot be loaded into a program of `process`."""
    quoted = r"\(?'?{}[^)'\n]{{0,20}}'?\)?"
    have, need = quoted.format(file), quoted.format(process)
    return Symptom(
        key=key,
        message=f"(mach-o file, but is an incompatible architecture (have '{file}', need '{process}'))",
        patterns=(
            (
                rf"(?:'/[^'\n]{{1,160}}' )?\(mach-o[^\n(]{{0,40}}(?:incompatible|wrong) architecture "
                rf"\(have {have}, need {need}"
            ),
            rf"found architecture {have}, required architecture {need}",
            rf"building for macOS-{process} but attempting to link with file built for macOS-{file}",
        ),
        anchors=("incompatible architecture", "wrong architecture", "required architecture", "attempting to link with"),
        component="macos",
        meaning=meaning,
        causes=causes,
        ask=PYTHON_INFO,
        states={"os.name": "macOS"},
        rules=("rosetta",),
        source_title=_DYLD,
        source_url=_DYLD_URL,
    )


SYMPTOMS = (
    _other_architecture(
        "mac-library-of-intel",
        "x86_64",
        "arm64",
        "The program runs as arm64, and the library that it loads was built for Intel processors (x86_64).",
        (
            Cause(
                text="The package was installed by an Intel Python or pip, and its files were taken over.",
                sign="The environment was made on an Intel Mac, or by a Python that runs under Rosetta.",
                remedy=(
                    "Delete the environment and make it anew with this arm64 Python, then install the packages again."
                ),
            ),
            Cause(
                text="The library is of an Intel Homebrew, in /usr/local.",
                sign="The path in the message begins with /usr/local.",
                remedy="Install it with the Homebrew for Apple silicon, which is in /opt/homebrew.",
            ),
            Cause(
                text="The package has no build for Apple silicon.",
                sign="Its files on PyPI have macosx wheels for x86_64 only.",
                remedy="Take a newer release of it, or build it from source.",
            ),
        ),
    ),
    _other_architecture(
        "mac-program-of-intel",
        "arm64",
        "x86_64",
        "The program runs as x86_64, and the library that it loads was built for Apple silicon (arm64).",
        (
            Cause(
                text="Python is an Intel program that Rosetta translates, on a Mac with an Apple chip.",
                sign="The first line of the command's output names an Apple chip, the second begins with x86_64.",
                remedy=(
                    "Install a Python for arm64 (python.org's, or Homebrew's in /opt/homebrew), make a new environment "
                    "with it, and install the packages there. A terminal with “Open using Rosetta” starts Intel "
                    "programs: turn that off in its information window."
                ),
                favoured_by=("apple-silicon",),
            ),
            Cause(
                text="The Mac has an Intel processor, and the library was copied from a Mac with an Apple chip.",
                sign="The first line of the command's output names Intel.",
                remedy="Install or build the library on this Mac.",
            ),
        ),
    ),
    Symptom(
        key="mps-macos-too-old",
        message=(
            "RuntimeError: The MPS backend is supported on MacOS 14.0+. Current OS version can be queried using "
            "`sw_vers`"
        ),
        patterns=(r"MPS backend is (?:only )?supported on MacOS (?P<detail>\d{2}(?:\.\d)?)\+?",),
        anchors=("mps backend is",),
        component="mps",
        meaning="This release of torch uses parts of Metal that this macOS does not have yet.",
        causes=(
            Cause(
                text="macOS is older than the release of torch needs.",
                sign="sw_vers shows a lower version than the message.",
                remedy="Update macOS, or install an older torch.",
                excluded_by=("mps-old-macos",),
            ),
            Cause(
                text="Python is built for an old macOS, or runs under Rosetta, and sees another version.",
                sign=(
                    "python -c 'import platform; print(platform.mac_ver(), platform.machine())' shows 10.16 or x86_64."
                ),
                remedy="Install a Python for arm64.",
                excluded_by=("rosetta",),
            ),
        ),
        ask="sw_vers",
        states={"os.name": "macOS", "mps.available": False},
        rules=("mps-old-macos", "rosetta", "mps-unavailable"),
        source_title=_MPS_NOTES,
        source_url=_MPS_NOTES_URL,
    ),
    Symptom(
        key="mps-operator-missing",
        message=(
            "NotImplementedError: The operator 'aten::linalg_svd' is not currently implemented for the MPS device"
        ),
        patterns=(
            (
                r"operator '(?P<detail>aten::[\w.]{1,80})' is not (?:currently )?(?:implemented|supported) "
                r"(?:for|on) the MPS"
            ),
            r"Could not run '(?P<detail>aten::[\w.]{1,80})' with arguments from the '(?:Sparse|Quantized)?MPS' backend",
        ),
        anchors=("for the mps", "on the mps", "mps' backend"),
        component="mps",
        meaning="This release of torch has no kernel of the operator for the GPU of a Mac.",
        causes=(
            Cause(
                text="Nobody has written it yet, or only in a newer release.",
                sign="The page of the operator says on which devices it runs.",
                remedy=(
                    "Update torch; or let the processor run it: export PYTORCH_ENABLE_MPS_FALLBACK=1 (before torch "
                    "is imported; "
                    "each call copies to the processor and back)"
                ),
            ),
        ),
        ask='python -c "import torch; print(torch.__version__)"',
        states={"os.name": "macOS"},
        severity="warning",
        source_title=_MPS_VARIABLES,
        source_url=_MPS_VARIABLES_URL,
    ),
    Symptom(
        key="mps-float64",
        message=(
            "TypeError: Cannot convert a MPS Tensor to float64 dtype as the MPS framework doesn't support float64."
        ),
        patterns=(
            r"Cannot convert a MPS Tensor to float64",
            r"MPS framework doesn't support float64",
            r"Cannot convert a float64 Tensor to MPS",
        ),
        anchors=("mps tensor to float64", "support float64", "float64 tensor to mps"),
        component="mps",
        meaning=(
            "Apple's GPUs have no double precision, so no release of torch or macOS will make this work on the GPU."
        ),
        causes=(
            Cause(
                text="A NumPy array or a Python number became a float64 tensor.",
                sign="NumPy makes float64 unless told otherwise.",
                remedy="Convert it before it goes to the device: tensor.to(torch.float32)",
            ),
            Cause(
                text="A library asks for float64, such as some optimizers and samplers.",
                sign="The lowest line of the traceback is in that library.",
                remedy="Run that part on the processor, or update the library.",
            ),
        ),
        ask=COLLECT_ENV,
        states={"os.name": "macOS"},
        source_title=_MPS_NOTES,
        source_url=_MPS_NOTES_URL,
    ),
    Symptom(
        key="mps-not-built",
        message="RuntimeError: PyTorch is not linked with support for mps devices",
        patterns=(r"PyTorch is not linked with support for mps devices", r"Torch not compiled with MPS"),
        anchors=("support for mps", "compiled with mps"),
        component="mps",
        meaning="This build of torch has no device mps.",
        causes=(
            Cause(
                text="Python runs as x86_64 under Rosetta, or the Mac has an Intel processor.",
                sign="python -c 'import platform; print(platform.machine())' prints x86_64.",
                remedy="On an Apple chip, install a Python for arm64, then torch again.",
                excluded_by=("rosetta",),
            ),
            Cause(text="torch is older than 1.12.", sign="torch.__version__ shows it.", remedy="Update torch."),
            Cause(
                text="The machine is no Mac.",
                sign="The program asks for mps whatever it runs on.",
                remedy="Choose the device that is there: torch.accelerator.current_accelerator()",
                only_on=("linux", "windows"),
            ),
        ),
        ask=COLLECT_ENV,
        states={"mps.built": False, "mps.available": False},
        rules=("rosetta", "mps-unavailable", "mps-old-macos"),
        source_title=_MPS_NOTES,
        source_url=_MPS_NOTES_URL,
    ),
    Symptom(
        key="mps-placeholder",
        message="RuntimeError: Placeholder storage has not been allocated on MPS device!",
        patterns=(
            r"Placeholder storage has not been allocated on MPS device",
            r"Input type \(MPS\w{2,20}\) and weight type",
            r"Input type \(torch\.\w{3,20}\) and weight type \((?:MPS\w{2,20}|torch\.mps\.\w{3,20})\)",
        ),
        anchors=("placeholder storage", "and weight type"),
        component="mps",
        meaning="The model is on the GPU and one of its inputs is not.",
        causes=(
            Cause(
                text="A tensor was not moved to the device.",
                sign="tensor.device prints cpu.",
                remedy='Move every input: tensor.to("mps")',
            ),
        ),
        ask=COLLECT_ENV,
        states={"os.name": "macOS"},
        source_title=_MPS_NOTES,
        source_url=_MPS_NOTES_URL,
    ),
)
