"""What a profile says of why a program is slow: the GPU waits for data, for values, for launches, or not at all."""

from collections.abc import Iterator

from stackviz.base.sentence import Sentence, say
from stackviz.report.rules.compatibility import RuleSource, Tables
from stackviz.report.rules.look import Look
from stackviz.report.rules.rule import Conclusion, RuleSet, Severity

RULES = RuleSet(order=66)

TORCH_PROFILER = RuleSource(
    "pytorch-profiler",
    "PyTorch, profiler recipe",
    "https://docs.pytorch.org/tutorials/recipes/recipes/profiler_recipe.html",
)
GPU_WAITS = 0.7  # the GPU's time over the processor's, below which the GPU waits in a profile
MOST = 0.25  # of the processor's time: what takes as much is a cause


@RULES.rule(
    "profile-waits-for-data",
    "pytorch",
    asks="a profiled program waits for data",
    worst=Severity.WARNING,
    source=TORCH_PROFILER,
    branch="data",
)
def check_profile_data(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    loader, copies = look.number("profile.loader_ratio") or 0.0, look.number("profile.copy_ratio") or 0.0
    if loader >= MOST:
        yield Conclusion(
            severity=Severity.WARNING,
            title=say("{share} of the profile waits for the next batch", f"{loader:.0%}"),
            explanation=say("The loop waits in DataLoader.__next__: the workers do not prepare batches fast enough."),
            advice=say(
                "More workers (num_workers up to the number of cores), persistent_workers=True, prefetch_factor=4; "
                "the data on a local disk, decoded once."
            ),
        )
    if copies >= MOST:
        yield Conclusion(
            severity=Severity.WARNING,
            title=say("{share} of the GPU's time in the profile is copies from or to main memory", f"{copies:.0%}"),
            explanation=say("Meanwhile nothing computes on what is copied."),
            advice=say(
                "pin_memory=True and .to(device, non_blocking=True); copy uint8 and convert on the GPU; keep there "
                "what the next step needs."
            ),
        )


@RULES.rule(
    "profile-waits-for-host",
    "pytorch",
    asks="a profiled program keeps the GPU busy",
    worst=Severity.WARNING,
    source=TORCH_PROFILER,
    branch="host",
)
def check_profile_host(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    """Waiting for the GPU is no fault where the GPU has work for all that time.

    A program runs for longer than its calls of CUDA: where only these are known, the GPU may wait more than they show.
    """
    host, calls, device = (look.number(f"profile.{name}_s") for name in ("host", "calls", "device"))
    whole = host or calls
    if not whole or device is None:
        return
    share = f"{min(device / whole, 1.0):.0%}"
    if device / whole >= GPU_WAITS:
        if host:
            yield Conclusion(severity=Severity.FITS, title=say("The GPU works for {share} of the profile", share))
    elif "profile-waits-for-data" not in look.problem_rules:
        yield _waiting_gpu(
            look,
            say("The GPU works for {share} of the profile", share)
            if host
            else say("The GPU works for {share} of the profile at most", share),
        )


def _waiting_gpu(look: Look, works: Sentence) -> Conclusion:
    """`works`: for which share of the profile the GPU works."""
    syncs, waits = look.number("profile.syncs") or 0.0, look.number("profile.sync_ratio") or 0.0
    if syncs and waits >= (look.number("profile.launch_ratio") or 0.0):
        return Conclusion(
            severity=Severity.WARNING,
            title=say(
                "{works}: values are fetched from it {n_syncs} times, and each time both wait", works, f"{syncs:,.0f}"
            ),
            explanation=say(
                "aten::item and cudaStreamSynchronize stop the processor until the GPU has finished; then the GPU has "
                "nothing to do until Python has launched the next kernels."
            ),
            advice=say(
                "Look for .item(), float(loss), print(loss), tensor.cpu(), nonzero and masks in each step: sum up on "
                'the GPU and fetch every 100 steps. torch.cuda.set_sync_debug_mode("warn") names the lines.'
            ),
        )
    return Conclusion(
        severity=Severity.WARNING,
        title=say("{works}: Python does not launch its kernels fast enough", works),
        explanation=say("Many small kernels: each costs microseconds on the processor, more than it takes the GPU."),
        advice=say(
            'A larger batch; torch.compile (mode="reduce-overhead" records CUDA graphs); fused=True for the optimizer.'
        ),
    )
