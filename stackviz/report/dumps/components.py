"""A machine's components layer by layer, each with what the findings say of it.

The layers stand here for those who have no database; tests hold them equal to the site's data and drawings.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from stackviz.report.format import Card, Report, Scalar, cards_named, systems
from stackviz.report.rules import Finding, Severity

__all__ = ["LAYERS", "LAYER_TITLES", "DumpComponent", "components", "components_of_facts", "layer_of"]

LAYERS: Mapping[str, str] = MappingProxyType(
    {
        "application": "python transformers hf-accelerate vllm llama-cpp torchvision torchaudio",
        "framework": "pytorch mlx jax tensorflow onnxruntime jax-metal jax-cuda-plugin tensorflow-metal"
        " onnxruntime-gpu",
        "compiler": "torchinductor triton coremltools tensorrt gcc clang cmake",
        "library": "numpy cudnn cublas nccl cusparse cufft cutlass mpsgraph mps-kernels accelerate onednn mkl openblas"
        " xformers flash-attn sageattention bitsandbytes",
        "platform": "openmp cuda-runtime cuda-toolkit cuda-driver-api metal mps rocm",
        "driver": "nvidia-driver metal-driver amdgpu-driver pynvml nvidia-ml-py",
        "os": "linux windows macos wsl",
        "hardware": "hardware",
    }
)
"""Layer, top to bottom -> the components on it, space separated."""

LAYER_TITLES: Mapping[str, str] = MappingProxyType(
    {
        "application": "Application",
        "framework": "Framework",
        "compiler": "Compiler",
        "library": "Libraries",
        "platform": "Compute platform",
        "driver": "Driver",
        "os": "Operating system",
        "hardware": "Hardware",
    }
)
"""As the site writes them where nothing is translated: the agent cannot ask it. A test holds the two equal."""

_LAYER_OF = {component: layer for layer, components in LAYERS.items() for component in components.split()}


def layer_of(component: str) -> str | None:
    """The layer's name; None for a component without a description."""
    return _LAYER_OF.get(component)


_WORST_FIRST = (Severity.BROKEN, Severity.WARNING, Severity.FITS)
"""The severities that make a state, which is called as they are; the others leave a component as it was reported."""


@dataclass(frozen=True, slots=True)
class DumpComponent:
    """`state`: reported, fits, warning, broken or unknown. `name`: what a card calls itself, else ""."""

    layer: str
    component: str
    version: str | None
    state: str
    name: str = ""


def components(report: Report, findings: Sequence[Finding]) -> tuple[DumpComponent, ...]:
    """The components found, and those that must exist although no dump states their version; top to bottom."""
    software = [
        DumpComponent(layer or "", component, version, _state(component, version, findings))
        for component, version in dict.fromkeys((*_software(report), *components_of_facts(report)))
        if (layer := layer_of(component)) != "hardware"
    ]
    cards = [DumpComponent("hardware", "hardware", None, _card_state(card, findings), card.reported_name)
             for card in report.cards]  # fmt: skip
    order = {layer: position for position, layer in enumerate(LAYERS)}
    return tuple(sorted((*software, *cards), key=lambda row: order.get(row.layer, -1)))


def _software(report: Report) -> Iterator[tuple[str, str | None]]:
    for software in report.software:
        yield software.component, software.version


def components_of_facts(report: Report) -> Iterator[tuple[str, str | None]]:
    """Components that a fact tells of and no list of software; or that a machine with such cards must have."""
    named = {software.component for software in report.software}
    vendors = {card.vendor for card in report.cards}
    for component, (facts, vendor) in _FACTS_OF.items():
        version = next((str(report.facts[name]) for name in facts if report.facts.get(name)), None)
        if component not in named and (version or (vendor and vendor in vendors)):
            yield component, version
    system = _system(report.facts)
    if system and system[0] not in named:
        yield system
    if report.facts.get("mps.built") is True and "mps" not in named:
        yield "mps", None
    if report.facts.get("os.wsl") and "wsl" not in named:
        yield "wsl", str(report.facts["os.wsl"])


_FACTS_OF: Mapping[str, tuple[tuple[str, ...], str]] = {
    "python": (("python.version",), ""),
    "pytorch": (("torch.version",), ""),
    "cudnn": (("cudnn.version",), ""),
    "nccl": (("nccl.version",), ""),
    "cuda-runtime": (("cuda.runtime_version", "torch.cuda_version"), ""),
    "cuda-toolkit": (("cuda.toolkit_version",), ""),
    "cuda-driver-api": (("cuda.driver_api_version",), ""),
    "rocm": (("rocm.version",), ""),
    "nvidia-driver": (("nvidia.driver_version",), "nvidia"),
}
"""Component -> the facts that tell its version, and the maker of the cards that are nothing without it."""


def _system(facts: Mapping[str, Scalar]) -> tuple[str, str | None] | None:
    family = systems.family(facts)
    version = str(facts["os.version"]) if facts.get("os.version") else None
    if family == "linux":
        return "linux", f"{facts['os.name']} {version or ''}".strip()[:200]
    return (family, version) if family else None


def _state(component: str, version: str | None, findings: Sequence[Finding]) -> str:
    return _worst(findings, lambda finding: finding.component == component) or ("reported" if version else "unknown")


def _card_state(card: Card, findings: Sequence[Finding]) -> str:
    """What is said of this card; a finding that names no card is about all of them."""

    def is_about(finding: Finding) -> bool:
        named = cards_named(finding.evidence)
        return finding.component == "hardware" and (not named or card.index in named)

    return _worst(findings, is_about) or "reported"


def _worst(findings: Sequence[Finding], is_about: Callable[[Finding], bool]) -> str:
    severities = {Severity(finding.severity) for finding in findings if is_about(finding)}
    return next((severity.value for severity in _WORST_FIRST if severity in severities), "")
