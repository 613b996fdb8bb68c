"""Which libraries a program gets: those its package brought, or others that hide them."""

import re
from collections.abc import Iterator

from stackviz.base.sentence import say
from stackviz.report.rules.checks.builds import Origin, origin_of
from stackviz.report.rules.compatibility import RuleSource, Tables
from stackviz.report.rules.look import Look, NotReported
from stackviz.report.rules.rule import Check, Conclusion, RuleSet, Severity
from stackviz.report.rules.versions import is_below, numbers

RULES = RuleSet(order=110)

SHADOWED_CUDNN = RuleSource(
    "pytorch-issue-80877",
    "pytorch/pytorch issue 80877: another cuDNN is loaded instead of the bundled one",
    "https://github.com/pytorch/pytorch/issues/80877",
)
INCOMPLETE_CUDNN = RuleSource(
    "pytorch-issue-188892",
    "pytorch/pytorch issue 188892: a cuDNN package without one of its libraries",
    "https://github.com/pytorch/pytorch/issues/188892",
)
NVJITLINK = RuleSource(
    "pytorch-issue-111469",
    "pytorch/pytorch issue 111469: undefined symbol of nvJitLink",
    "https://github.com/pytorch/pytorch/issues/111469",
)
JAX_INSTALL = RuleSource("jax-install", "JAX installation guide", "https://docs.jax.dev/en/latest/installation.html")
FLASH_ATTN = RuleSource(
    "flash-attention-issue-919",
    "Dao-AILab/flash-attention issue 919: undefined symbol when it is imported",
    "https://github.com/Dao-AILab/flash-attention/issues/919",
)
TORCH_IMPORT = RuleSource(
    "pytorch-get-started", "PyTorch, Start locally: how an installation is checked",
    "https://pytorch.org/get-started/locally/",
)  # fmt: skip
_LONGEST_QUOTE = 160
_TOOLKIT_FOLDER = re.compile(r"cuda|cudnn|nccl|nvidia", re.IGNORECASE)


def quoted(error: str) -> str:
    """The end of an error, which has the relevant part."""
    return error if len(error) <= _LONGEST_QUOTE else f"...{error[-_LONGEST_QUOTE:]}"


def toolkit_folders(look: Look) -> list[str]:
    """Folders of LD_LIBRARY_PATH that hold libraries of NVIDIA by their names; those of WSL belong there."""
    path = look.get("env.ld_library_path") or ""
    return [folder for folder in path.split(":") if _TOOLKIT_FOLDER.search(folder) and "site-packages" not in folder]


def _system_cudnn(look: Look) -> list[str]:
    return (look.get("cudnn.libraries") or "").split()


def _fails_in_cudnn(look: Look) -> bool:
    return "cudnn" in (look.get("torch.import_error") or "").lower()


@RULES.rule("torch-import", "pytorch", asks="torch can be imported", worst=Severity.BROKEN, source=TORCH_IMPORT)
def check_torch_import(look: Look, tables: Tables) -> Iterator[Conclusion]:
    error = look.get("torch.import_error")
    if error is None or any(_explains(check, look, tables) for check in (check_cudnn_shadowed, check_nvjitlink)):
        return
    yield Conclusion(
        severity=Severity.BROKEN,
        title=say("torch is installed but cannot be imported: {quoted}", quoted(error)),
        explanation=say(
            "torch does not run at all. What the error names is missing, has another version, or is hidden by a copy "
            "that is found first."
        ),
        advice=say(
            "Install torch in a fresh environment; if it imports there, compare LD_LIBRARY_PATH and the packages."
        ),
    )


def _explains(check: Check, look: Look, tables: Tables) -> bool:
    """Whether another rule explains it, so that it is reported only once."""
    try:
        return any(conclusion.severity == Severity.BROKEN for conclusion in check(look, tables))
    except NotReported:
        return False


@RULES.rule(
    "ld-library-path-cudnn", "cudnn", asks="torch gets its own cuDNN", worst=Severity.BROKEN, source=SHADOWED_CUDNN
)
def check_cudnn_shadowed(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    """A cuDNN of the system does no harm while the loader prefers the bundled one: only a search path changes that."""
    if _fails_in_cudnn(look):
        _say_if_unknown(look)
        elsewhere = [*_system_cudnn(look), *toolkit_folders(look)]
        if elsewhere:
            yield Conclusion(
                severity=Severity.BROKEN,
                title=say("torch cannot be imported because of a cuDNN other than its own"),
                explanation=say(
                    "The import fails with: {quoted}. The libraries of a cuDNN release load only each other. Found "
                    "outside Python's packages: {elsewhere}",
                    quoted(look.get("torch.import_error") or ""),
                    elsewhere[0],
                ),
                advice=say("unset LD_LIBRARY_PATH; if that does not help, remove the system's cuDNN."),
            )
        return
    if look.states_none("torch.cuda_version") or look.states_none("torch.version"):
        return
    if origin_of(look.get("torch.version") or "") is Origin.SOURCE:
        return  # it was linked to the cuDNN of the system
    folders = [folder.rstrip("/") for folder in (look.get("env.ld_library_path") or "").split(":") if folder]
    hidden = [path for path in _system_cudnn(look) if path.rpartition("/")[0] in folders]
    if hidden:
        yield Conclusion(
            severity=Severity.WARNING,
            title=say("LD_LIBRARY_PATH puts another cuDNN before torch's own: {hidden}", hidden[0]),
            explanation=say(
                "The loader may take some libraries from there and the rest from torch's own. That works as long as "
                "both are the same release."
            ),
            advice=say("unset LD_LIBRARY_PATH, or remove that folder from it."),
        )


def _say_if_unknown(look: Look) -> None:
    """An import that fails needs both facts: one of them told is enough to go on, none of them is not."""
    if not look.states_none("env.ld_library_path") and look.get("cudnn.libraries") is None:
        look.need("env.ld_library_path")


@RULES.rule(
    "cudnn-wheel-incomplete",
    "cudnn",
    asks="cuDNN finds all its libraries",
    worst=Severity.BROKEN,
    source=INCOMPLETE_CUDNN,
)
def check_cudnn_incomplete(look: Look, tables: Tables) -> Iterator[Conclusion]:
    row = next(
        (
            row
            for row in tables.rows("cudnn", "offers", "libcudnn-engines-tensor-ir")
            for version in look.software("cudnn")
            if row.values == "no" and numbers(version) == numbers(row.version)
        ),
        None,
    )
    if row is None or look.states_none("cudnn.libraries"):
        return
    if look.get("cudnn.libraries") is None and not _fails_in_cudnn(look):
        return
    look.need("cudnn.libraries")
    foreign = [path for path in _system_cudnn(look) if "libcudnn_engines_tensor_ir" in path]
    if foreign:
        yield Conclusion(
            severity=Severity.BROKEN,
            title=say(
                "The cuDNN {version} package lacks a library, and the system has one from another release", row.version
            ),
            explanation=say(
                "cuDNN looks for libcudnn_engines_tensor_ir in its own folder, does not find it, and loads {foreign}: "
                "the versions then differ, and it fails.",
                foreign[0],
            ),
            advice=say("Install a newer torch, or remove the system's cuDNN."),
            source=row.source,
        )


@RULES.rule(
    "nvjitlink-shadow", "cuda-runtime", asks="torch gets its own nvJitLink", worst=Severity.BROKEN, source=NVJITLINK
)
def check_nvjitlink(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    error = look.get("torch.import_error") or ""
    if "nvjitlink" not in error.lower() or look.states_none("env.ld_library_path"):
        return
    look.need("env.ld_library_path")
    folders = toolkit_folders(look)
    if folders:
        yield Conclusion(
            severity=Severity.BROKEN,
            title=say(
                "torch cannot be imported: a CUDA toolkit in LD_LIBRARY_PATH hides the nvJitLink that torch ships"
            ),
            explanation=say(
                "The import fails with: {quoted}. libcusparse needs the nvJitLink of its own release, and the loader "
                "found the one in {folders} first.",
                quoted(error),
                folders[0],
            ),
            advice="unset LD_LIBRARY_PATH",
        )


@RULES.rule(
    "jax-ld-library-path", "jax", asks="JAX gets its own CUDA libraries", worst=Severity.WARNING, source=JAX_INSTALL
)
def check_jax_search_path(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    if not look.software("jax-cuda-plugin"):
        return
    folders = toolkit_folders(look)
    if folders:
        yield Conclusion(
            severity=Severity.WARNING,
            title=say("LD_LIBRARY_PATH puts {folders} before the CUDA libraries that JAX ships", folders[0]),
            explanation=say(
                "JAX's packages ship the CUDA libraries they were built with; libraries found through this variable "
                "replace them, whatever their version."
            ),
            advice="unset LD_LIBRARY_PATH",
        )


@RULES.rule(
    "flash-attn-abi",
    "flash-attn",
    asks="flash-attn fits this torch",
    worst=Severity.BROKEN,
    source=FLASH_ATTN,
    needs=("flash-attn", "pytorch"),
)
def check_flash_attention(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    error = look.get("flash_attn.import_error")
    if error is None:
        return
    if "undefined symbol" in error.lower():
        yield Conclusion(
            severity=Severity.BROKEN,
            title=say("flash-attn was built for a different torch"),
            explanation=say(
                "Its import fails with: {quoted}. The package is compiled for one release of torch and one C++ ABI; "
                "this torch lacks the functions it needs.",
                quoted(error),
            ),
            advice=say(
                "Install the wheel whose name matches this machine's torch, CUDA and cxx11abi, or build it: pip "
                "install --no-build-isolation --force-reinstall --no-deps flash-attn"
            ),
        )
    else:
        yield Conclusion(
            severity=Severity.BROKEN,
            title=say("flash-attn is installed but cannot be imported: {quoted}", quoted(error)),
            explanation=say("Programs that use it fall back to another attention implementation, or stop."),
            advice=say("Install what the error names, or remove flash-attn: pip uninstall flash-attn"),
        )


@RULES.rule(
    "flash-attn-older",
    "flash-attn",
    asks="flash-attn has wheels for this torch",
    worst=Severity.NOTE,
    source=FLASH_ATTN,
    needs=("flash-attn", "pytorch"),
)
def check_flash_attention_release(look: Look, tables: Tables) -> Iterator[Conclusion]:
    """Of a release that was compiled here for this torch nothing is known: then it works."""
    torch, versions = look.get("torch.version"), look.packages("flash-attn")
    if not torch or not versions or look.get("flash_attn.import_error"):
        return
    rows = [row for row in tables.rows("flash-attn", "needs", "pytorch") if row.low and not is_below(torch, row.low)]
    for row in rows[-1:]:
        if is_below(versions[0], row.version):
            yield Conclusion(
                severity=Severity.NOTE,
                title=say("flash-attn {version} is older than torch {torch}", versions[0], torch),
                explanation=say(
                    "Releases from {release} on have wheels for torch {low} and newer; an older one fails with "
                    "undefined symbol, unless it was compiled here for this torch.",
                    row.version,
                    row.low,
                ),
                advice=say("Install a release for this torch: pip install --no-build-isolation --upgrade flash-attn"),
                source=row.source,
            )
