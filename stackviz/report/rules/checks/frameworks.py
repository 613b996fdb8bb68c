"""JAX, TensorFlow, ONNX Runtime and the tools beside them: can they use the card that is there?

A framework that runs on the CPU beside a card works, and not as it should: a warning. Its package for the CPU alone may
be there for another package's sake: a note. Broken is what was made for the card and cannot load.
"""

from collections.abc import Iterator

from stackviz.base.sentence import join_sentences, say
from stackviz.report.rules.checks.grouping import by_capability, indexes, named
from stackviz.report.rules.compatibility import RuleSource, Tables, newest_up_to
from stackviz.report.rules.look import Look, NotReported
from stackviz.report.rules.package_releases import PackageTarget
from stackviz.report.rules.packages import plan_package
from stackviz.report.rules.rule import Check, Conclusion, RuleSet, Severity
from stackviz.report.rules.versions import is_below, major_minor, numbers, same_line

RULES = RuleSet(order=120)

JAX_CPU = RuleSource(
    "jax-issue-29068",
    "jax-ml/jax issue 29068: falling back to the CPU without the CUDA plug-in",
    "https://github.com/jax-ml/jax/issues/29068",
)
TENSORFLOW_INSTALL = RuleSource(
    "tensorflow-install", "Install TensorFlow with pip: native Windows", "https://www.tensorflow.org/install/pip"
)
TENSORFLOW_BUILDS = RuleSource(
    "tensorflow-linux-builds",
    "TensorFlow, tested build configurations for Linux",
    "https://www.tensorflow.org/install/source#gpu",
)
TWO_PACKAGES = RuleSource(
    "onnxruntime-issue-26996",
    "microsoft/onnxruntime issue 26996: both packages at once",
    "https://github.com/microsoft/onnxruntime/issues/26996",
)
ORT_CUDNN = RuleSource(
    "onnxruntime-issue-21769",
    "microsoft/onnxruntime issue 21769: CUDA 12 and cuDNN 9 from 1.19 on",
    "https://github.com/microsoft/onnxruntime/issues/21769",
)
ORT_CPU = RuleSource(
    "olive-issue-656",
    "microsoft/Olive issue 656: a session on the CPU beside a card",
    "https://github.com/microsoft/Olive/issues/656",
)
PYNVML = RuleSource(
    "torch-cuda-init",
    "PyTorch, torch/cuda/__init__.py: the warning about the package pynvml",
    "https://github.com/pytorch/pytorch/blob/main/torch/cuda/__init__.py",
)
CARDS_OF = (
    (
        "flash-attn",
        "flash-attn",
        RuleSource("flash-attention-readme", "flash-attention, README", "https://github.com/Dao-AILab/flash-attention"),
    ),
    (
        "vllm",
        "vLLM",
        RuleSource(
            "vllm-install", "vLLM, installation on NVIDIA cards",
            "https://github.com/vllm-project/vllm/blob/main/docs/getting_started/installation/gpu.cuda.inc.md",
        ),
    ),
    (
        "bitsandbytes",
        "bitsandbytes",
        RuleSource(
            "bitsandbytes-install", "bitsandbytes, installation guide",
            "https://huggingface.co/docs/bitsandbytes/v0.50.0/installation",
        ),
    ),
)  # fmt: skip
_CUDA_PROVIDERS = ("CUDAExecutionProvider", "TensorrtExecutionProvider", "NvTensorRTRTXExecutionProvider")


@RULES.rule(
    "jax-cpu", "jax", asks="JAX can use the card", worst=Severity.WARNING, source=JAX_CPU, needs=("jax", "hardware")
)
def check_jax_plugin(look: Look, tables: Tables) -> Iterator[Conclusion]:
    cards = look.cards("nvidia")
    versions = look.software("jax")
    if not cards or not versions or look.platform == "macos":
        return
    if look.software("jax-cuda-plugin"):
        yield Conclusion(severity=Severity.FITS, title=say("JAX has its CUDA plug-in"), cards=indexes(cards))
        return
    if any("cuda" in version for version in versions):
        return  # before there was a plug-in, jaxlib itself was built with CUDA and said so in its version
    if not look.lists_packages:
        raise NotReported("jax-cuda-plugin")
    yield Conclusion(
        severity=Severity.WARNING,
        title=say("JAX has no CUDA plug-in, on a machine with {named}", named(cards)),
        explanation=say("jax and jaxlib alone contain only CPU code; they run on the CPU and log one line about it."),
        advice=_jax_for_card(look, tables),
        cards=indexes(cards),
    )


def _jax_for_card(look: Look, tables: Tables) -> str:
    """The package for the driver and the weakest card, as a plan would name it; both where neither is known."""
    capabilities = [card.get("compute_capability") for card in look.cards("nvidia")]
    if not all(capabilities):
        return say(
            'pip install -U "jax[cuda13]", or "jax[cuda12]" where the driver is older (on Windows: inside WSL2).'
        )
    host = PackageTarget(
        wheel="linux-aarch64" if look.wheel_platform == "linux-aarch64" else "linux-x86_64",
        platform=look.driver_platforms[0],
        capability=min(filter(None, capabilities), key=numbers),
        driver=look.get("nvidia.driver_version") or "",
    )
    plan = plan_package(tables, "jax", host)
    if plan.release is None:
        return say("No release on record of JAX runs here: {reasons}.", join_sentences(plan.passed_over, "; "))
    return say("pip install -U {spec} (on Windows: inside WSL2).", plan.spec)


@RULES.rule(
    "tf-windows",
    "tensorflow",
    asks="this TensorFlow can use the card on Windows",
    worst=Severity.BROKEN,
    source=TENSORFLOW_INSTALL,
    needs=("tensorflow", "windows"),
)
def check_tensorflow_windows(look: Look, tables: Tables) -> Iterator[Conclusion]:
    cards = look.cards("nvidia")
    versions = look.software("tensorflow")
    is_native = look.platform == "windows" and look.get("os.wsl") is None
    if not is_native or not cards or not versions:
        return
    if not numbers(versions[0]):
        raise NotReported("tensorflow")
    rows = list(tables.rows("tensorflow", "offers", "cuda-runtime", platform="windows-x86_64"))
    row = next(iter(newest_up_to(rows, versions[0])), None)
    if row is None:
        return
    if row.values != "no":
        title = say("TensorFlow {versions} still supports CUDA on native Windows", versions[0])
        yield Conclusion(severity=Severity.FITS, title=title, cards=indexes(cards), source=row.source)
        return
    yield Conclusion(
        severity=Severity.BROKEN,
        title=say(
            "TensorFlow {versions} has no CUDA support on native Windows: {named} stays unused",
            versions[0],
            named(cards),
        ),
        explanation=say("Since {version} its packages for Windows contain only CPU code.", row.version),
        advice=say("Install it inside WSL2: pip install 'tensorflow[and-cuda]'"),
        cards=indexes(cards),
        source=row.source,
    )


@RULES.rule(
    "tf-other-cuda",
    "tensorflow",
    asks="TensorFlow finds the CUDA it was built for",
    worst=Severity.WARNING,
    source=TENSORFLOW_BUILDS,
    needs=("tensorflow", "cuda-runtime"),
)
def check_tensorflow_cuda(look: Look, tables: Tables) -> Iterator[Conclusion]:
    """Only where TensorFlow itself says that it finds no CUDA: pip may have installed the right one beside it."""
    versions = look.software("tensorflow")
    symptoms = (look.get("message.symptoms") or "").split()
    if "tensorflow-no-cuda" not in symptoms or look.platform == "windows" or not versions or not numbers(versions[0]):
        return
    cuda = _tested_with(tables, "cuda-runtime", versions[0])
    if not cuda:
        return
    installed = look.get("cuda.toolkit_version") or look.get("cuda.runtime_version")
    if not installed and look.get("torch.version") is None:
        installed = look.get("torch.cuda_version")  # of a list typed by hand: the CUDA of the machine
    if installed and same_line(cuda, major_minor(installed)):
        return
    beside = say(", and CUDA {installed} is installed", installed) if installed else ""
    libraries = say("CUDA {cuda} and cuDNN {tested_with}", cuda, _tested_with(tables, "cudnn", versions[0]))
    yield Conclusion(
        severity=Severity.WARNING,
        title=say("TensorFlow {versions} is built for CUDA {cuda}{beside}", versions[0], cuda, beside),
        explanation=say(
            "It was built and tested with {libraries}, and loads the libraries of that CUDA by name: those of another "
            "version do not count. Most likely that is why it runs on the processor; less likely there is no driver, "
            "or the container was started without the GPU (nvidia-smi tells).",
            libraries,
        ),
        advice=say(
            "The smallest step: {libraries} beside what is installed, with their folders in "
            "LD_LIBRARY_PATH. Or a newer TensorFlow, whose packages bring their own: pip install "
            "--upgrade 'tensorflow[and-cuda]' (2.14 and newer, Linux; undo: pip install "
            'tensorflow=={versions}). To check: python -c "import tensorflow as tf; '
            "print(tf.config.list_physical_devices('GPU'))\"",
            libraries,
            versions[0],
        ),
    )


def _tested_with(tables: Tables, subject: str, version: str) -> str:
    """The version that the release of TensorFlow was tested with on Linux; "" for one of another line."""
    rows = tables.rows("tensorflow", "needs", subject, platform="linux-x86_64", part="tested build")
    return next((row.values for row in rows if major_minor(row.version) == major_minor(version)), "")


@RULES.rule(
    "ort-two-packages",
    "onnxruntime-gpu",
    asks="only one ONNX Runtime package is installed",
    worst=Severity.BROKEN,
    source=TWO_PACKAGES,
)
def check_two_runtimes(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    if not look.software("onnxruntime") or not look.software("onnxruntime-gpu"):
        return
    providers = (look.get("onnxruntime.providers") or "").split()
    hides_the_card = bool(providers and look.cards("nvidia")) and not set(_CUDA_PROVIDERS) & set(providers)
    yield Conclusion(
        severity=Severity.BROKEN if hides_the_card else Severity.WARNING,
        title=say("The packages onnxruntime and onnxruntime-gpu are both installed"),
        explanation=say(
            "Both write into the same folder: which files remain depends on the order, and the next update of either "
            "may remove CUDAExecutionProvider."
        ),
        advice="pip uninstall -y onnxruntime onnxruntime-gpu && pip install onnxruntime-gpu",
    )


@RULES.rule(
    "ort-cudnn-major",
    "onnxruntime-gpu",
    asks="ONNX Runtime finds its cuDNN",
    worst=Severity.BROKEN,
    source=ORT_CUDNN,
    needs=("onnxruntime-gpu", "cudnn"),
)
def check_runtime_cudnn(look: Look, tables: Tables) -> Iterator[Conclusion]:
    cards = look.cards("nvidia")
    versions = [version for version in look.software("onnxruntime-gpu") if numbers(version)]
    if not cards or not versions:
        return
    row = next(iter(newest_up_to(tables.rows("onnxruntime-gpu", "needs", "cudnn"), versions[0])), None)
    if row is None:
        return
    cudnns = [version for version in (*look.software("cudnn"), look.get("cudnn.version") or "") if numbers(version)]
    if not cudnns:
        look.need("cudnn.version")
    majors = sorted({numbers(version)[0] for version in cudnns})
    if numbers(row.values)[0] in majors:
        title = say(
            "onnxruntime-gpu {versions} needs cuDNN {values}: found {fromkeys}",
            versions[0],
            row.values,
            ", ".join(dict.fromkeys(cudnns)),
        )
        yield Conclusion(severity=Severity.FITS, title=title, source=row.source)
        return
    yield Conclusion(
        severity=Severity.BROKEN,
        title=say(
            "onnxruntime-gpu {versions} needs cuDNN {values}; this machine has {fromkeys}",
            versions[0],
            row.values,
            ", ".join(dict.fromkeys(cudnns)),
        ),
        explanation=say("Its CUDA provider cannot load its libraries, so sessions run on the CPU."),
        advice=say(
            "Install cuDNN {values} (pip install nvidia-cudnn-cu12, or -cu13 for builds for CUDA 13) and call "
            "onnxruntime.preload_dlls() before the first session, or install the onnxruntime-gpu for this cuDNN.",
            row.values,
        ),
        source=row.source,
    )


@RULES.rule(
    "ort-silent-cpu", "onnxruntime", asks="ONNX Runtime offers the card", worst=Severity.WARNING, source=ORT_CPU
)
def check_runtime_on_cpu(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    """The provider of a session is unknown; only a package without any CUDA certainly runs on the CPU."""
    cards = look.cards("nvidia")
    has_cuda_package = bool(look.software("onnxruntime-gpu"))
    has_plain_package = bool(look.software("onnxruntime"))
    if not cards or has_cuda_package == has_plain_package:
        return  # neither; or both, which is a question of its own
    providers = look.get("onnxruntime.providers")
    if providers is None:
        return
    if any(provider in providers.split() for provider in _CUDA_PROVIDERS):
        yield Conclusion(
            severity=Severity.FITS, title=say("ONNX Runtime offers a provider for the card"), cards=indexes(cards)
        )
        return
    yield Conclusion(
        severity=Severity.WARNING if has_cuda_package else Severity.NOTE,
        title=say("ONNX Runtime offers no provider for {named}: sessions run on the CPU", named(cards)),
        explanation=say(
            "It offers: {providers}. A session silently uses what is available and fails only if a missing provider "
            "is requested by name.",
            providers,
        ),
        advice=say("pip uninstall -y onnxruntime && pip install onnxruntime-gpu, then check session.get_providers()."),
        cards=indexes(cards),
        component="onnxruntime-gpu" if has_cuda_package else "onnxruntime",
    )


def cards_of(component: str, name: str) -> Check:
    """The check of a package that has code for some cards only: one rule each."""

    def check(look: Look, tables: Tables) -> Iterator[Conclusion]:
        versions = [version for version in look.software(component) if numbers(version)]
        cards = look.cards("nvidia")
        if not versions or not cards:
            return
        rows = [row for row in tables.rows(component, "supports", "compute-capability", part="") if not row.variant]
        row = next(iter(newest_up_to(rows, versions[0])), None)
        if row is None:
            return
        for capability, group in by_capability(cards):
            if is_below(capability, row.low) if row.low else capability not in row.values.split():
                yield Conclusion(
                    severity=Severity.BROKEN,
                    title=say(
                        "{name} {versions} has no code for {named} (capability {capability})",
                        name,
                        versions[0],
                        named(group),
                        capability,
                    ),
                    explanation=(
                        say(
                            "Since {version} it supports {low} and newer: it fails at its first kernel, or when it is "
                            "imported.",
                            row.version,
                            row.low,
                        )
                        if row.low
                        else say(
                            "Since {version} it supports {values}: it fails at its first kernel, or when it is "
                            "imported.",
                            row.version,
                            row.values,
                        )
                    ),
                    advice=say(
                        "Do not use {name} on this card, or use an alternative: for attention, torch's own "
                        "scaled_dot_product_attention.",
                        name,
                    ),
                    cards=indexes(group),
                    source=row.source,
                )
            else:
                title = say("{name} {versions} supports capability {capability}", name, versions[0], capability)
                yield Conclusion(severity=Severity.FITS, title=title, cards=indexes(group), source=row.source)

    return check


for _component, _name, _source in CARDS_OF:
    RULES.rule(
        f"{_component}-card",
        _component,
        asks=say("{name} supports the card", _name),
        worst=Severity.BROKEN,
        source=_source,
        needs=(_component, "hardware"),
    )(cards_of(_component, _name))


@RULES.rule("pynvml-deprecated", "pynvml", asks="the NVML binding is NVIDIA's own", worst=Severity.NOTE, source=PYNVML)
def check_pynvml(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    if not look.software("pynvml"):
        return
    yield Conclusion(
        severity=Severity.NOTE,
        title=say("The package pynvml is deprecated"),
        explanation=say(
            "NVIDIA's own binding is the package nvidia-ml-py, whose module is also called pynvml; torch warns about "
            "the other package at every start."
        ),
        advice="pip uninstall -y pynvml && pip install --force-reinstall nvidia-ml-py",
    )
