"""What programs and the system say of why it is slow: layers on the processor, storage, queues, the network."""

from collections.abc import Iterator

from stackviz.base.sentence import Sentence, say
from stackviz.report.rules.compatibility import RuleSource, Tables
from stackviz.report.rules.look import Look
from stackviz.report.rules.rule import Conclusion, RuleSet, Severity

RULES = RuleSet(order=66)

OLLAMA_FAQ = RuleSource("ollama-faq", "Ollama, FAQ: was my model loaded onto the GPU?", "https://docs.ollama.com/faq")
NCCL_VARIABLES = RuleSource(
    "nccl-env",
    "NCCL, environment variables",
    "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
)
IOSTAT = RuleSource("iostat-manual", "iostat, manual page", "https://man7.org/linux/man-pages/man1/iostat.1.html")
VLLM_TUNING = RuleSource(
    "vllm-optimization",
    "vLLM, optimization and tuning",
    "https://docs.vllm.ai/en/stable/configuration/optimization.html",
)
DCGM_DIAGNOSTICS = RuleSource(
    "dcgm-diagnostics",
    "NVIDIA DCGM, diagnostics",
    "https://docs.nvidia.com/datacenter/dcgm/latest/user-guide/dcgm-diagnostics.html",
)
MUCH_WAITING = 0.15  # of the processors' time, for storage
CACHE_FULL = 0.9  # of vLLM's KV cache


@RULES.rule(
    "layers-on-cpu",
    "hardware",
    asks="all layers of the model are on the card",
    worst=Severity.WARNING,
    source=OLLAMA_FAQ,
    branch="works",
)
def check_layers(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    share, layers, on_card = (look.number(name) for name in ("model.cpu_ratio", "model.layers", "model.layers_on_card"))
    what = ""
    if share:
        what = say("The processor computes {share} of the model", f"{share:.0%}")
    elif layers is not None and on_card is not None and on_card < layers:
        what = say(
            "{n_on} of {n_layers} layers are on the card, the others on the processor", f"{on_card:g}", f"{layers:g}"
        )
    elif share is not None or on_card is not None:
        yield Conclusion(severity=Severity.FITS, title=say("The program says that the whole model is on the card"))
    if not what:
        return
    yield Conclusion(
        severity=Severity.WARNING,
        title=what,
        explanation=say(
            "Each token then waits for main memory, which is ten to twenty times slower: the card is idle for most of "
            "the time. {fits}",
            _why_not_whole(look),
        ),
        advice=say(
            "Until all of it fits: a smaller context (ollama: OLLAMA_CONTEXT_LENGTH, llama.cpp: -c), a quantized "
            "cache, a smaller quantization or model (/fit/ works it out). Models of experts: keep only the experts on "
            "the processor (llama.cpp: --n-cpu-moe)."
        ),
    )


def _why_not_whole(look: Look) -> Sentence:
    """Whether the model fits, as far as its size and that of the cards are known."""
    size = look.number("model.memory_bytes") or 0.0
    total = sum(card.memory_bytes or 0 for card in look.all_cards)
    if not size or not total:
        return say("What does not fit the card stays there.")
    if total > size:
        return say("It would fit: something else holds the memory of the card, or the program was told to use less.")
    return say(
        "With its context it takes {size} GB, and the cards have {total} GB: it does not fit.",
        f"{size / 1e9:.0f}",
        f"{total / 1e9:.0f}",
    )


@RULES.rule(
    "storage-waits",
    "linux",
    asks="processors wait for storage",
    worst=Severity.WARNING,
    source=IOSTAT,
    branch="data",
)
def check_storage(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    share = look.number("cpu.iowait_ratio")
    if share is not None and share >= MUCH_WAITING:
        yield Conclusion(
            severity=Severity.WARNING,
            title=say("The processors wait for storage in {share} of their time", f"{share:.0%}"),
            explanation=say("Batches come as fast as the disk or the network share gives them, or memory is swapped."),
            advice=say(
                "Copy the data to a local SSD and pack small files into large ones (WebDataset, Parquet). vmstat 1: "
                "where si and so are not 0, it is swap, and memory is too short."
            ),
        )


@RULES.rule(
    "nccl-transport",
    "nccl",
    asks="NCCL uses the fastest way between cards",
    worst=Severity.WARNING,
    source=NCCL_VARIABLES,
    branch="several",
)
def check_transports(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    transports = (look.get("nccl.transports") or "").split()
    if any(each.startswith("NET/Socket") for each in transports):
        yield Conclusion(
            severity=Severity.WARNING,
            title=say("NCCL connects machines over TCP: NET/Socket"),
            explanation=say(
                "TCP has a tenth of the bandwidth of InfiniBand or RoCE and goes through the processor: each "
                "all-reduce takes that much longer."
            ),
            advice=say(
                "Where there is InfiniBand or RoCE: ibstat must say Active, NCCL_IB_DISABLE must not be 1, and the "
                "container needs --device=/dev/infiniband and --ulimit memlock=-1. Else choose the fastest interface "
                "with NCCL_SOCKET_IFNAME, and send less: gradient accumulation, no_sync()."
            ),
        )
    elif any(each.startswith("SHM") for each in transports) and not any(each.startswith("P2P") for each in transports):
        yield Conclusion(
            severity=Severity.NOTE,
            title=say("NCCL connects the cards through main memory: SHM"),
            explanation=say(
                "The cards do not reach each other directly: their driver, their slots or a variable forbid it. Cards "
                "for consumers since the RTX 40 have no P2P."
            ),
            advice=say(
                "nvidia-smi topo -m shows how they are connected. Unset NCCL_P2P_DISABLE where it is set, and switch "
                "off ACS and IOMMU in the firmware of a server without virtual machines."
            ),
        )


@RULES.rule(
    "vllm-queue",
    "vllm",
    asks="vLLM has room for all requests",
    worst=Severity.WARNING,
    source=VLLM_TUNING,
    branch="works",
)
def check_queue(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    waiting, preempted = look.number("vllm.requests_waiting"), look.number("vllm.preemptions")
    if waiting is None and preempted is None:
        return
    used, running = look.number("vllm.cache_ratio") or 0.0, look.number("vllm.requests_running") or 0.0
    if preempted or (waiting and used >= CACHE_FULL):
        yield Conclusion(
            severity=Severity.WARNING,
            title=(
                say("vLLM takes requests off the card for want of KV cache: {n_times} times", f"{preempted:g}")
                if preempted
                else say("The KV cache is full, and {n_waiting} requests wait", f"{waiting:g}")
            ),
            explanation=say("What is taken off is computed again later; what waits has not begun."),
            advice=say(
                "More room for the cache: --gpu-memory-utilization 0.95, --kv-cache-dtype fp8, a quantized model, "
                "--tensor-parallel-size 2. Or ask less of it: --max-model-len, --max-num-seqs."
            ),
        )
    elif waiting:
        yield Conclusion(
            severity=Severity.NOTE,
            title=say("{n_waiting} requests wait while {n_running} run", f"{waiting:g}", f"{running:g}"),
            explanation=say(
                "The KV cache has room: it is the number of sequences that is limited, or the prompts are long."
            ),
            advice=say("Raise --max-num-seqs or --max-num-batched-tokens, or add a second server."),
        )
    else:
        yield Conclusion(severity=Severity.FITS, title=say("No request waits in vLLM"))


@RULES.rule(
    "dcgm-failed",
    "hardware",
    asks="the cards pass NVIDIA's diagnostics",
    worst=Severity.WARNING,
    source=DCGM_DIAGNOSTICS,
)
def check_dcgm(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    """Silent where the link is what failed: pcie-width names it."""
    failed = (look.get("nvidia.dcgm_failed") or "").split(", ")
    is_link = any(card.number("pcie_width") and card.number("pcie_width_max") for card in look.all_cards)
    failed = [test for test in failed if test and not (is_link and test == "pcie")]
    if failed:
        yield Conclusion(
            severity=Severity.WARNING,
            title=say("dcgmi diag fails: {tests}", ", ".join(failed)),
            explanation=say("The lines below the test name the card and the reason."),
            advice=say(
                "End the jobs on that card, reset it and run the test again; a test that fails twice is a case for the "
                "vendor. The counts of its errors: nvidia-smi -q"
            ),
        )
