"""The CUDA toolkit beside torch's own CUDA: nvcc, a toolkit alone, Triton's ptxas, toolkits with known faults."""

from collections.abc import Iterator

from stackviz.base.sentence import say
from stackviz.report.format.systems import is_cpu_build, wheel_variant
from stackviz.report.rules.checks.grouping import indexes, named
from stackviz.report.rules.compatibility import RuleSource, Tables, newest_up_to
from stackviz.report.rules.look import Look
from stackviz.report.rules.rule import Conclusion, RuleSet, Severity
from stackviz.report.rules.versions import is_below, major_minor, numbers, same_line

RULES = RuleSet(order=50)

EXTENSIONS = RuleSource(
    "vllm-install-gpu",
    "vLLM, Installation on GPUs",
    "https://docs.vllm.ai/en/stable/getting_started/installation/gpu.html",
)
PTXAS = RuleSource(
    "triton-issue-8539",
    "triton-lang/triton issue 8539: ptxas does not know sm_121a",
    "https://github.com/triton-lang/triton/issues/8539",
)
CUDA_13_2 = RuleSource(
    "pytorch-issue-196351",
    "pytorch/pytorch issue 196351: faults of CUDA 13.2 before 13.2.2",
    "https://github.com/pytorch/pytorch/issues/196351",
)
LEARNT = "new in its ptxas"  # part of the rows that say which capabilities a Triton learnt of
FIX = "nvfp4-scaling-fix"


@RULES.rule(
    "nvcc-differs",
    "cuda-toolkit",
    asks="nvcc matches torch's CUDA",
    worst=Severity.NOTE,
    source=EXTENSIONS,
    needs=("cuda-toolkit", "pytorch"),
)
def check_nvcc(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    torch, nvcc = look.get("torch.cuda_version"), look.get("cuda.toolkit_version")
    if nvcc is None or look.states_none("torch.version") or look.states_none("torch.cuda_version"):
        return
    if torch is None:
        if not is_cpu_build(look.get("torch.version") or "+cpu"):
            look.need("torch.cuda_version")
        return
    if not numbers(torch) or not numbers(nvcc):
        return
    if major_minor(torch) == major_minor(nvcc):
        yield Conclusion(
            severity=Severity.FITS, title=say("nvcc and torch both use CUDA {major_minor}", major_minor(nvcc))
        )
    elif numbers(torch)[:1] == numbers(nvcc)[:1]:
        yield Conclusion(
            severity=Severity.NOTE,
            title=say("nvcc is from CUDA {nvcc}, torch is built with CUDA {torch}", nvcc, torch),
            explanation=say(
                "torch does not use nvcc. Extensions compiled here have the same CUDA major version as torch, which "
                "is enough."
            ),
            advice=say("Nothing to do, unless an extension requires the exact version."),
        )
    else:
        yield Conclusion(
            severity=Severity.NOTE,
            title=say("The CUDA toolkit {nvcc} differs in its major version from torch's CUDA {torch}", nvcc, torch),
            explanation=say(
                "torch itself runs, since it ships its CUDA libraries. Extensions (flash-attn, your own kernels) fail "
                "to compile with an nvcc of another major version."
            ),
            advice=say(
                "To compile extensions, install a CUDA {numbers} toolkit and set CUDA_HOME to it.", numbers(torch)[0]
            ),
        )


@RULES.rule(
    "toolkit-alone", "cuda-toolkit", asks="there is a card for the toolkit", worst=Severity.NOTE, source=EXTENSIONS
)
def check_toolkit_alone(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    nvcc = look.get("cuda.toolkit_version")
    if nvcc is None or look.all_cards or look.get("nvidia.driver_version"):
        return
    if not look.mentions_torch and not look.mentions("nvidia.driver_version"):
        return  # nvcc alone spoke: nobody asked for a card
    if look.is_true("cuda.available"):
        look.need("nvidia.driver_version")
    without_torch = say(", and torch is not installed in this Python") if look.states_none("torch.version") else ""
    yield Conclusion(
        severity=Severity.NOTE,
        title=say(
            "CUDA toolkit {nvcc} is installed, but no NVIDIA card or driver was reported{without_torch}",
            nvcc,
            without_torch,
        ),
        explanation=say(
            "A toolkit compiles programs; running them needs a card and its driver. On a build machine or in a "
            "container without a card this is normal."
        ),
        advice=say("If there is a card: nvidia-smi must list it. In a container, start it with --gpus all."),
    )


@RULES.rule(
    "triton-ptxas",
    "triton",
    asks="Triton can compile for the card",
    worst=Severity.BROKEN,
    source=PTXAS,
    needs=("triton", "hardware"),
)
def check_ptxas(look: Look, tables: Tables) -> Iterator[Conclusion]:
    rows = {
        capability: row
        for row in tables.rows("triton", "offers", "compute-capability", part=LEARNT)
        for capability in row.values.split()
    }
    late = [card for card in look.cards("nvidia") if card.get("compute_capability") in rows]
    if not late or look.states_none("torch.version"):
        return
    version = next(iter(filter(None, look.software("triton"))), None) or _shipped_triton(look, tables)
    if version is None:
        if look.get("torch.version"):
            look.need("triton")
        return
    capability = late[0].need("compute_capability")
    row = rows[capability]
    if is_below(version, row.version):
        yield Conclusion(
            severity=Severity.BROKEN,
            title=say(
                "Triton {version} cannot compile for {named} (capability {capability})",
                version,
                named(late),
                capability,
            ),
            explanation=say(
                "The ptxas that Triton ships does not support the card: torch.compile and Triton kernels fail."
            ),
            advice=say(
                "Use Triton {version} or newer, or point it to the ptxas of CUDA 13: export "
                "TRITON_PTXAS_PATH=/usr/local/cuda/bin/ptxas",
                row.version,
            ),
            cards=indexes(late),
            source=row.source,
        )
    else:
        title = say("Triton {version} compiles for capability {capability}", version, capability)
        yield Conclusion(severity=Severity.FITS, title=title, cards=indexes(late), source=row.source)


def _shipped_triton(look: Look, tables: Tables) -> str | None:
    """The Triton that this torch ships, if none is listed."""
    torch, platform = look.get("torch.version"), look.wheel_platform
    if torch is None or not platform:
        return None
    rows = newest_up_to(tables.rows("pytorch", "ships", "triton", platform=platform), torch)
    return next((row.values for row in rows if major_minor(row.version) == major_minor(torch)), None)


@RULES.rule("cuda1322-fix", "cuda-runtime", asks="CUDA 13.2 has its fixes", worst=Severity.WARNING, source=CUDA_13_2)
def check_cuda_13_2(look: Look, tables: Tables) -> Iterator[Conclusion]:
    cuda = look.get("torch.cuda_version") or ""
    known = [row for row in tables.rows("cuda-toolkit", "offers", FIX) if same_line(row.version, major_minor(cuda))]
    mended = next((row.version for row in known if row.values == "yes"), None)
    if mended is None or look.states_none("torch.version"):
        return
    torch = look.need("torch.version")
    builds = [row for row in tables.rows("pytorch", "ships", "cuda-toolkit") if row.variant == wheel_variant(cuda)]
    first = next((row.version for row in builds if not is_below(row.values, mended)), None)
    fixed = next((row.values for row in builds if numbers(row.version) == numbers(torch)[:3]), None)
    if fixed is None and (first is None or not is_below(torch, first)):
        yield Conclusion(
            severity=Severity.CANNOT_TELL,
            title=say(
                "Cannot tell whether CUDA {major_minor} has its fixes: torch {torch} is not known here",
                major_minor(cuda),
                torch,
            ),
        )
    elif fixed is None or is_below(fixed, mended):
        yield Conclusion(
            severity=Severity.WARNING,
            title=say("torch {torch} ships CUDA {major_minor} from before {mended}", torch, major_minor(cuda), mended),
            explanation=say(
                "Its cublasLt scales NVFP4 products wrongly, and its compiler has a bug; both are fixed in {mended}.",
                mended,
            ),
            advice=f"pip install 'torch>={first or torch}' --index-url https://download.pytorch.org/whl/{wheel_variant(cuda)}",
        )
    else:
        yield Conclusion(severity=Severity.FITS, title=say("torch {torch} ships CUDA {fixed}", torch, fixed))
