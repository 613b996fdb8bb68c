"""Out of memory, by the figures in the message: too big, fragmented, or held by other programs?"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from math import floor

from stackviz.base.sentence import join_sentences, say
from stackviz.report.messages import BY_KEY, Symptom
from stackviz.report.rules.compatibility import RuleSource, Tables
from stackviz.report.rules.look import Look
from stackviz.report.rules.rule import Conclusion, RuleSet, Severity

RULES = RuleSet(order=140)

CUDA_MEMORY = RuleSource(
    "pytorch-cuda-memory",
    "PyTorch, CUDA semantics: memory management",
    "https://docs.pytorch.org/docs/stable/notes/cuda.html#memory-management",
)
MPS_VARIABLES = RuleSource(
    "pytorch-mps-variables",
    "PyTorch, MPS environment variables",
    "https://docs.pytorch.org/docs/stable/mps_environment_variables.html",
)
SHARED_MEMORY = RuleSource(
    "pytorch-docker-image", "PyTorch, README: Docker image", "https://github.com/pytorch/pytorch#docker-image"
)
SHARED_OF_A_CONTAINER = 64 * 2**20
MOST_OF = 0.9  # of a limit: hardly anything is left below it
HOLDS_MUCH = 0.25  # of the card: less is what a desktop and contexts of CUDA take
_SMALLER = say(
    "Use a smaller batch, context or image, a smaller precision or quantization, gradient checkpointing, or a device "
    "with more memory (/fit/ works it out)."
)
_ON_A_MAC = say(
    "The GPU shares the machine's memory. macOS recommends a working set below all of it (about two thirds to three "
    "quarters), and PyTorch stops at 1.7 times that by default (its high watermark): what is above the working set is "
    "already slow."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """Bytes, as an out-of-memory message states them; None where it does not.

    `unallocated`: reserved by PyTorch and not in use; `process`: all that this process holds.
    """

    requested: float
    total: float | None
    free: float | None
    allocated: float | None
    unallocated: float | None
    process: float | None

    @property
    def others(self) -> float | None:
        """What other programs hold, as far as the figures tell."""
        held = self.process
        if held is None and self.allocated is not None:
            held = self.allocated + (self.unallocated or 0)
        if self.total is None or self.free is None or held is None:
            return None
        return max(0.0, self.total - self.free - held)


@RULES.rule(
    "out-of-memory", "pytorch", asks="what was asked for fits the memory", worst=Severity.BROKEN, source=CUDA_MEMORY
)
def check_out_of_memory(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    """Only where the message says how much was asked for: without figures it is explained as others are."""
    symptoms = (look.get("message.symptoms") or "").split()
    requested = look.number("message.oom_requested_bytes")
    if requested is None:
        return
    if "mps-out-of-memory" in symptoms:
        yield _on_a_mac(look, requested)
        return
    memory = _memory(look, requested)
    if "cuda-out-of-memory" in symptoms and memory.total is not None:
        yield _on_a_card(look, memory)
    elif memory.total is not None or memory.free is not None:
        explained = (BY_KEY[key] for key in symptoms if key in BY_KEY and "out-of-memory" in BY_KEY[key].rules)
        detail = look.get("message.detail") or ""
        yield from (_of_a_program(symptom, memory, detail) for symptom in islice(explained, 1))


def _memory(look: Look, requested: float) -> Memory:
    allocated = look.number("message.oom_allocated_bytes")
    unallocated = look.number("message.oom_reserved_bytes")
    reserved = look.number("message.oom_reserved_total_bytes")
    if unallocated is None and reserved is not None and allocated is not None:
        unallocated = max(0.0, reserved - allocated)
    return Memory(
        requested=requested,
        total=look.number("message.oom_total_bytes"),
        free=look.number("message.oom_free_bytes"),
        allocated=allocated,
        unallocated=unallocated,
        process=look.number("message.oom_process_bytes"),
    )


def _on_a_card(look: Look, memory: Memory) -> Conclusion:
    cause, why, advice = _cause(look, memory)
    return Conclusion(
        severity=Severity.BROKEN,
        title=say("Out of memory: {size} asked for{left}. {cause}", _size(memory.requested), _left(memory), cause),
        explanation=join_sentences([why, _figures(memory)]),
        advice=advice,
    )


def _cause(look: Look, memory: Memory) -> tuple[str, str, str]:
    """The likeliest cause by the figures, why it is that one, and what to do; the next one too, where it may be."""
    total, others = memory.total or 0.0, memory.others
    if memory.requested > total:
        why = say("No setting helps: a single piece is larger than all the memory of this card.")
        return say("It is more than the card has"), why, _SMALLER
    if memory.unallocated is not None and memory.requested <= memory.unallocated + (memory.free or 0):
        fragmented = say(
            "Most likely the memory is fragmented: PyTorch keeps {size} that it does not use, in pieces that are too "
            "small.",
            _size(memory.unallocated),
        )
        why = join_sentences([fragmented, say("Less likely: it will not do either, and the program is too big.")])
        return (
            say("Most likely fragmented"),
            why,
            say("{unfragment} If it fails again: {smaller}", _unfragment(look), _SMALLER),
        )
    if others is not None and others >= max(HOLDS_MUCH * total, memory.requested - (memory.free or 0)):
        why = say(
            "Most likely other programs are the cause: about {size} belong to none of this process's tensors.",
            _size(others),
        )
        advice = say(
            "nvidia-smi lists the programs on the card; end those that are not needed (a notebook keeps its memory "
            "until its kernel is restarted), or choose another card with CUDA_VISIBLE_DEVICES. Then, if it is still "
            "not enough: {smaller}",
            _SMALLER,
        )
        return say("Most likely other programs hold it"), why, advice
    why = say("Most likely the program is too big for this card: it holds most of the memory itself.")
    grows = say("If memory grows from step to step: loss.item() and torch.no_grad() keep no graph.")
    return say("Most likely too big for this card"), why, join_sentences([_SMALLER, grows])


def _of_a_program(symptom: Symptom, memory: Memory, detail: str) -> Conclusion:
    """Of a program that says itself what it wanted: its first cause is its size, its second that others hold memory.

    `detail`: the context length that fits, where the message estimates one.
    """
    likeliest, *rest = symptom.causes
    if memory.total and memory.free is not None and memory.total - memory.free >= HOLDS_MUCH * memory.total:
        rest, likeliest = [likeliest, *rest[1:]], rest[0]
    return Conclusion(
        severity=Severity.BROKEN,
        title=say(
            "Out of memory: {size} asked for{left}. {cause}",
            _size(memory.requested),
            _left(memory),
            say(likeliest.text),
        ),
        explanation=join_sentences([say(symptom.meaning), _share_that_fits(symptom, memory)]),
        advice=say(
            "{first} If it fails again: {rest}",
            _context_that_fits(symptom, detail) or say(likeliest.remedy),
            join_sentences(say(cause.remedy) for cause in rest),
        ),
        component=symptom.component,
        source=RuleSource(symptom.key, symptom.source_title, symptom.source_url),
    )


def _context_that_fits(symptom: Symptom, detail: str) -> str:
    """The option with the number of tokens that vLLM estimates; "" where it states none."""
    if symptom.key != "vllm-kv-cache" or not detail.isdigit():
        return ""
    return say("Give the context that fits by the message's own estimate: --max-model-len {tokens}.", detail)


def _share_that_fits(symptom: Symptom, memory: Memory) -> str:
    """The greatest share that vLLM may be given of a card of which others hold a part."""
    if symptom.key != "vllm-memory-at-start" or not memory.total or memory.free is None:
        return ""
    return say(
        "What is free allows a share of {share} at most.", f"{floor(memory.free / memory.total * 100) / 100:.2f}"
    )


def _unfragment(look: Look) -> str:
    if look.platform == "windows":
        return say(
            "Before the program starts: set PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:128 (PowerShell: "
            '$env:PYTORCH_CUDA_ALLOC_CONF="max_split_size_mb:128"); expandable segments are for Linux only.'
        )
    return say("Before the program starts: export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True (undo: unset it).")


def _figures(memory: Memory) -> str:
    """What the message states, in one sentence."""
    stated = (
        "" if memory.total is None else say("total {size}", _size(memory.total)),
        "" if memory.free is None else say("free {size}", _size(memory.free)),
        "" if memory.allocated is None else say("in use by PyTorch {size}", _size(memory.allocated)),
        "" if memory.unallocated is None else say("reserved and unused {size}", _size(memory.unallocated)),
        "" if memory.process is None else say("held by this process {size}", _size(memory.process)),
    )
    return say("In the message: {value}.", join_sentences(stated, ", "))


def _left(memory: Memory) -> str:
    if memory.free is None:
        return say(", of {size} in all", _size(memory.total or 0))
    if memory.total is None:
        return say(", {size} free", _size(memory.free))
    return say(", {size} of {size_2} free", _size(memory.free), _size(memory.total or 0))


def _on_a_mac(look: Look, requested: float) -> Conclusion:
    """`max allowed` is the high watermark: 1.7 times what macOS recommends for the GPU, unless it is set otherwise."""
    allocated, limit = look.number("message.oom_allocated_bytes"), look.number("message.oom_total_bytes")
    others = look.number("message.oom_other_bytes") or 0.0
    figures = ""
    if allocated is not None and limit is not None:
        figures = say(
            "In the message: PyTorch has {size}, other allocations of this process {size_2}, allowed are {size_3}.",
            _size(allocated),
            _size(others),
            _size(limit),
        )
    is_full = limit is not None and allocated is not None and allocated + requested > MOST_OF * limit
    cause = say("Most likely too big for this Mac") if is_full or limit is None else say("Other allocations hold it")
    return Conclusion(
        severity=Severity.BROKEN,
        title=say("Out of memory on the GPU of this Mac: {size} asked for. {cause}", _size(requested), cause),
        explanation=join_sentences([_ON_A_MAC, figures]),
        advice=say(
            "{smaller} Close other programs, and call torch.mps.empty_cache() between runs. "
            "PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0 (before the program starts) takes the limit away and can make the "
            "whole Mac stop answering: save your work first; undo: unset it. A larger working set for the GPU, until "
            "the next boot: sudo sysctl iogpu.wired_limit_mb=<MB> (undo: 0), and leave 8 GB for macOS.",
            _SMALLER,
        ),
        component="mps",
        source=MPS_VARIABLES,
    )


def _size(value: float) -> str:
    return f"{value / 2**30:.2f} GiB" if value >= 2**30 else f"{value / 2**20:.0f} MiB"


@RULES.rule(
    "shared-memory-small",
    "linux",
    asks="there is more shared memory than a container starts with",
    worst=Severity.BROKEN,
    source=SHARED_MEMORY,
)
def check_shared_memory(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    """Worth knowing by itself; broken where a program says that it ran out of it."""
    size = look.number("memory.shared_bytes")
    if size is None or size > SHARED_OF_A_CONTAINER:
        return
    has_failed = "out-of-shared-memory" in (look.get("message.symptoms") or "").split()
    yield Conclusion(
        severity=Severity.BROKEN if has_failed else Severity.NOTE,
        title=say("The shared memory has {size}, no more than a container starts with", _size(size)),
        explanation=say(
            "Workers of a DataLoader and processes of NCCL hand data over in /dev/shm: where it is full, they end "
            "with a bus error or out of shared memory. The GPU has no part in it."
        ),
        advice=say(
            "Start the container with docker run --shm-size=8g or --ipc=host, or use fewer workers (num_workers=0 "
            "needs none). To check: df -h /dev/shm"
        ),
    )
