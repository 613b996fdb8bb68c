"""Whether a framework uses the GPU: what a check has proven, or the likeliest causes where it does not."""

from collections.abc import Iterator, Sequence

from stackviz.base.sentence import Sentence, join_sentences, say
from stackviz.base.units import quantity_label
from stackviz.report.messages.commands import COLLECT_ENV
from stackviz.report.rules.compatibility import RuleSource, Tables
from stackviz.report.rules.look import Look
from stackviz.report.rules.rule import Conclusion, RuleSet, Severity

RULES = RuleSet(order=2050)

GET_STARTED = RuleSource(
    "pytorch-get-started", "PyTorch, get started: verification", "https://pytorch.org/get-started/locally/#verification"
)
_SEEN = say("It computes on the processor instead, and says nothing of why.")
_NO_CUDA = (
    say("This torch is the build for processors: torch.version.cuda is None, or its version ends in +cpu."),
    say("The driver is missing, or too old for this build: nvidia-smi fails, or shows a lower CUDA than torch's."),
    say("The card is hidden: the container was started without it, or CUDA_VISIBLE_DEVICES is empty or -1."),
    say("This is a Mac, whose GPU is the device mps, or a card of AMD's or Intel's with a build for another maker's."),
)
_ON_PROCESSOR = (
    say("The build or the plug-in for the card is not installed, or is of another release than the framework."),
    _NO_CUDA[1],
    _NO_CUDA[2],
)
_NO_MPS = (
    say("Python is an Intel program: platform.machine() prints x86_64 on a Mac with Apple silicon."),
    say("macOS is older than this torch needs: sw_vers shows it."),
    say("This torch is built without MPS, as on any other system than macOS: torch.backends.mps.is_built() is False."),
)


@RULES.rule(
    "gpu-unused", "pytorch", asks="PyTorch uses the GPU", worst=Severity.WARNING, source=GET_STARTED, last_resort=True
)
def check_gpu_use(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    """Of a text that has the print of a check and little else: other rules compare what whole reports state."""
    framework = look.get("check.framework")
    if framework:
        yield _computed(look, framework)
    elif _is_whole_report(look) or look.problem_rules:
        return
    elif available := next((name for name in ("cuda", "mps", "xpu") if look.is_true(f"{name}.available")), ""):
        yield Conclusion(
            severity=Severity.FITS,
            title=say("torch reports that it can use a GPU: {name}.available is true", available),
            explanation=say("No kernel ran in this text: the check below a plan runs one."),
        )
    elif look.is_true("cuda.available") is False:
        name = say("CUDA is not available to it")
        yield _unused(say("PyTorch does not use the GPU: {name}", name), _NO_CUDA)
    elif look.is_true("mps.available") is False:
        name = say("MPS is not available to it")
        yield _unused(say("PyTorch does not use the GPU: {name}", name), _NO_MPS)


def _is_whole_report(look: Look) -> bool:
    """Whether drivers, cards or the build were looked at too."""
    facts = ("nvidia.driver_version", "nvidia.nvml_error", "torch.cuda_version", "mps.built")
    return bool(look.all_cards) or any(map(look.mentions, facts))


def _unused(title: Sentence, causes: Sequence[Sentence]) -> Conclusion:
    first, *others = causes
    return Conclusion(
        severity=Severity.WARNING,
        title=title,
        explanation=join_sentences(
            [_SEEN, say("Most likely: {cause}", first), *(say("Also possible: {cause}", cause) for cause in others)]
        ),
        advice=say("Run this and paste what it prints: {ask}", say(COLLECT_ENV)),
    )


def _computed(look: Look, framework: str) -> Conclusion:
    """What the check script of a plan has proven."""
    device, card = look.get("check.device") or "", look.get("check.card") or ""
    size = look.number("check.memory_bytes")
    memory = quantity_label(size, "B", binary=True) if size else ""
    where = ", ".join(filter(None, (device, card, memory)))
    written = look.get("check.type") or ""
    if look.is_true("check.is_right") is False:
        return Conclusion(
            severity=Severity.BROKEN,
            title=say(
                "A kernel ran on {where}, and its result is wrong ({framework}, {type})", where, framework, written
            ),
            explanation=say("A product of ones has one right result: the card, its memory or the build is at fault."),
            advice=say("Run it again, and on another card; undo overclocking. Then another release of the framework."),
        )
    if device == "cpu":
        return _unused(say("The check of {framework} ran on the processor", framework), _ON_PROCESSOR)
    return Conclusion(
        severity=Severity.FITS,
        title=say("A kernel ran on {where}, and its result is right ({framework}, {type})", where, framework, written),
    )
