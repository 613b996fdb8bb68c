"""pip, uv and conda find nothing to install."""

from stackviz.report.messages.commands import PYTHON_INFO
from stackviz.report.messages.symptom import Cause, Symptom

_PREVIOUS = "PyTorch, previous versions"
_PREVIOUS_URL = "https://pytorch.org/get-started/previous-versions/"

SYMPTOMS = (
    Symptom(
        key="no-matching-torch",
        message="ERROR: No matching distribution found for torch==2.0.1+cu117",
        patterns=(
            r"Wheels are available for `(?P<detail>[\w-]{1,40})`[^\n]{0,30} on the following platforms",
            r"`(?P<detail>[\w-]{1,40})` was found on \S{1,120}, but not at the requested version",
            r"`(?P<detail>[\w-]{1,40})`,? (?:which )?has no wheel",
            r"No matching distribution found for (?P<detail>[a-z]\S{1,70})",
            r"Could not find a version that satisfies the requirement (?P<detail>[a-z]\S{1,70})",
            r"Because (?P<detail>[a-z]\S{1,70}) (?:has no|was not found)",
            r"Because there (?:is|are) no versions? of (?P<detail>[a-z]\S{1,70})",
            r"(?<!\S)`?(?P<detail>[a-z]\S{1,70}) has no (?:wheels|usable wheels)",
            r"because it doesn't have a source distribution or wheel for the current platform",
            r"but we only found wheels for `(?P<detail>[\w-]{1,40})`",
        ),
        anchors=(
            "wheels are available for",
            "not at the requested version",
            "has no wheel",
            "no matching distribution",
            "could not find a version that",
            "because there is no version",
            "because there are no version",
            "has no wheels",
            "has no usable",
            "source distribution or wheel for",
            "only found wheels for",
        ),
        component="pytorch",
        meaning="The index that was asked has no file of this package for this Python, this system or that version.",
        causes=(
            Cause(
                text="This Python is of Windows on ARM (arm64), for which most releases have no wheels.",
                sign="The last word of the command's output is ARM64.",
                remedy="Install the x86-64 Python of python.org, which Windows translates, or use a newer release.",
                favoured_by=("windows-arm",),
                only_on=("windows-arm",),
            ),
            Cause(
                text="Python is newer or older than the release has wheels for.",
                sign="The first line of the command's output is not a Python of the release.",
                remedy="Use another Python: each release of torch supports about five.",
                favoured_by=("none-offered",),
            ),
            Cause(
                text="The version with this suffix exists only in PyTorch's own index, and the index was not named.",
                sign="The version ends in +cu… or +rocm….",
                remedy="Add --index-url https://download.pytorch.org/whl/ with the suffix of the version behind it.",
                only_on=("linux", "windows"),
            ),
            Cause(
                text="The index does not exist or has no wheels for this system: cu indexes have none for Macs.",
                sign="Opening the index in a browser shows nothing, or no file for this system.",
                remedy=(
                    "On a Mac: pip install torch. Elsewhere take the line of https://pytorch.org/get-started/locally/"
                ),
            ),
            Cause(
                text=("This Python is of x86_64, on a Mac: torch ended there with 2.2.2, and what is built on it too."),
                sign="The last word of the command's output is x86_64.",
                remedy=(
                    "On Apple silicon install an arm64 Python (conda's or Homebrew's for arm64) and make the "
                    "environment anew with it; on an Intel Mac stay with torch 2.2.2 and numpy<2."
                ),
                favoured_by=("intel-mac",),
                only_on=("mac",),
            ),
            Cause(
                text="Python is 32-bit, or the system is 32-bit ARM or musl.",
                sign="The command's output says 32 bit, i686, armv7l or musl.",
                remedy="Use 64-bit Python on a system with glibc.",
            ),
        ),
        ask=PYTHON_INFO,
        rules=("mac-cu-index", "index-lacks-build", "index-not-asked"),
        source_title=_PREVIOUS,
        source_url=_PREVIOUS_URL,
    ),
    Symptom(
        key="wheel-not-supported",
        message="ERROR: torch-2.1.0+cu121-cp311-cp311-linux_x86_64.whl is not a supported wheel on this platform.",
        patterns=(r"(?<![\w.-])(?P<detail>[\w.+-]{5,120}\.whl) is not a supported wheel on this platform",),
        anchors=("not a supported wheel",),
        component="python",
        meaning=(
            "The wheel's name says for which Python and system it is: cp311 is Python 3.11, linux_x86_64 the system."
        ),
        causes=(
            Cause(
                text="It is for another version of Python.",
                sign="python --version is not the one of the name.",
                remedy="Take the wheel for this Python, or the Python of the wheel.",
            ),
            Cause(
                text="It is for another system or processor.",
                sign="The name ends in another system.",
                remedy="Take the wheel for this system.",
            ),
        ),
        ask=PYTHON_INFO,
        source_title="Python Packaging User Guide, platform compatibility tags",
        source_url="https://packaging.python.org/en/latest/specifications/platform-compatibility-tags/",
    ),
    Symptom(
        key="externally-managed",
        message="error: externally-managed-environment",
        patterns=(r"externally-managed-environment", r"interpreter at \S{1,80} is externally managed"),
        anchors=("externally-managed", "externally managed"),
        component="python",
        meaning="The distribution's own Python takes no packages from pip.",
        causes=(
            Cause(
                text="No virtual environment is active.",
                sign="which python prints /usr/bin/python3.",
                remedy="Make one: python3 -m venv .venv && . .venv/bin/activate",
            ),
        ),
        ask=PYTHON_INFO,
        severity="warning",
        source_title="PEP 668",
        source_url="https://peps.python.org/pep-0668/",
    ),
    Symptom(
        key="conda-unsatisfiable",
        message="LibMambaUnsatisfiableError: Encountered problems while solving",
        patterns=(
            r"ResolvePackageNotFound|InvalidVersionSpec|CondaEnvException",
            r"Solving environment: failed",
            r"LibMambaUnsatisfiableError",
            r"UnsatisfiableError: The following specifications",
            r"SOLVER_RULE_\w{3,30}",
            r"package [\w.-]{1,60} (?:conflicts with|requires) [^\n]{1,80}, (?:but )?none of the providers can be",
        ),
        anchors=(
            "resolvepackagenotfound",
            "invalidversionspec",
            "condaenvexception",
            "solving environment: failed",
            "unsatisfiableerror",
            "solver_rule_",
            "none of the providers",
        ),
        component="python",
        meaning="conda finds no set of packages in which all wishes hold. The lines below it name those that collide.",
        causes=(
            Cause(
                text="The environment holds packages that pin another version.",
                sign="A new environment with only the wanted packages is solved.",
                remedy="conda create -n torch python=3.12 (then install there)",
            ),
            Cause(
                text="The channel has no such build: PyTorch's own conda channel ended with torch 2.5.",
                sign="A newer torch is asked for with -c pytorch.",
                remedy="Install torch with pip, or pytorch-gpu from conda-forge.",
            ),
            Cause(
                text="The machine shows no CUDA, so that builds for it are ruled out.",
                sign="conda info lists no __cuda.",
                remedy="export CONDA_OVERRIDE_CUDA=12.6 (with the version that nvidia-smi shows, before the command)",
            ),
        ),
        ask="conda info",
        source_title="pytorch/pytorch issue 138506: the end of the conda channel",
        source_url="https://github.com/pytorch/pytorch/issues/138506",
    ),
)
