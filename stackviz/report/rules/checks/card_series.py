"""Cards that a tool looked at again and again, or once: do they work all the time, as fast as they can, as others do?

Nothing is said that the readings do not carry: a card that waits may wait for data, for Python or for requests.
"""

from collections.abc import Iterator, Sequence
from statistics import median

from stackviz.base.sentence import join_sentences, say
from stackviz.report.rules.checks.grouping import indexes, named
from stackviz.report.rules.compatibility import RuleSource, Tables
from stackviz.report.rules.look import CardLook, Look
from stackviz.report.rules.rule import Conclusion, RuleSet, Severity

RULES = RuleSet(order=68)

NVIDIA_SMI = RuleSource(
    "nvidia-smi-manual", "nvidia-smi, manual page", "https://docs.nvidia.com/deploy/nvidia-smi/index.html"
)
TUNING_GUIDE = RuleSource(
    "pytorch-tuning-guide",
    "PyTorch, Performance Tuning Guide",
    "https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html",
)
SYSTEM_MEMORY_FALLBACK = RuleSource(
    "nvidia-sysmem-fallback",
    "NVIDIA, System Memory Fallback for Stable Diffusion",
    "https://nvidia.custhelp.com/app/answers/detail/a_id/5490",
)
MUCH_IDLE = 0.2  # of the readings
FEW_PAUSES = 3  # one or two are the beginning, the end, an epoch or a checkpoint
PARTLY_BUSY = 0.7  # of each reading, on average: a loaded card is above 0.9
FULLY_BUSY = 0.9
LITTLE_POWER = 0.45  # of the limit: a card that multiplies matrices draws twice as much
LITTLE_TRAFFIC = 0.3  # of the time in which memory is read or written; decoding tokens takes more
FULL = 0.95  # of the memory
ONE_LOOK_LEAST = 0.15  # less is a desktop
LEAST_USED = 0.05  # of the memory: with less the card works for nobody, or starts up for nvidia-smi itself
SLOWER = 0.85  # of the clock of its like
BUSIER = 0.3  # than its like, of the time


def _percent(ratio: float) -> str:
    return f"{ratio:.0%}"


def _watched(look: Look) -> list[CardLook]:
    return [card for card in look.all_cards if card.number("watched_idle_ratio") is not None]


def _working(look: Look) -> list[CardLook]:
    """Those that did something while they were watched."""
    return [card for card in _watched(look) if card.number("watched_busy_ratio") is not None]


def _is_waiting(card: CardLook) -> bool:
    """Whether it stops for whole readings, again and again."""
    idle, pauses = card.number("watched_idle_ratio") or 0.0, card.number("watched_pauses") or 0.0
    return idle >= MUCH_IDLE and pauses >= FEW_PAUSES


@RULES.rule(
    "card-waits",
    "hardware",
    asks="the card works all the time",
    worst=Severity.WARNING,
    source=TUNING_GUIDE,
    branch="data",
)
def check_waiting(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    """Pauses of whole readings. A card that works without them holds."""
    waiting = [card for card in _working(look) if _is_waiting(card)]
    rest = [card for card in _working(look) if card not in waiting]
    steady = [card for card in rest if (card.number("watched_busy_ratio") or 0.0) >= PARTLY_BUSY]
    for card in waiting:
        readings = card.number("watched_readings") or 0.0
        idle = round(readings * (card.number("watched_idle_ratio") or 0.0))
        yield Conclusion(
            severity=Severity.WARNING,
            title=say(
                "{named} waits: idle in {n_idle} of {n_readings} readings, in {n_pauses} pauses between work{seconds}",
                named([card]),
                idle,
                f"{readings:g}",
                f"{card.number('watched_pauses'):g}",
                _seconds(card),
            ),
            explanation=say(
                "Between bursts of work it does nothing, so the card is not what is slow. Most often it waits for "
                "data: reading, decoding, copying. A server that waits for requests looks the same."
            ),
            advice=say(
                "Run the step on one batch that is already on the device. If that is much faster, it is the data: "
                "more workers (num_workers), persistent_workers=True, pin_memory=True, the data on a local disk."
            ),
            cards=indexes([card]),
        )
    if steady and not waiting:
        yield Conclusion(
            severity=Severity.FITS,
            title=say("Works without long pauses while it is watched: {named}", named(steady)),
            cards=indexes(steady),
        )


def _seconds(card: CardLook) -> str:
    duration = card.number("watched_s")
    return "" if duration is None else say("; watched for {seconds} s", f"{duration:.0f}")


@RULES.rule(
    "card-partly-busy",
    "hardware",
    asks="the card is busy while it works",
    worst=Severity.WARNING,
    source=TUNING_GUIDE,
    branch="host",
)
def check_gaps(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    """Gaps that are shorter than a reading: it is never idle, and never fully busy."""
    partly = [
        card
        for card in _working(look)
        if not _is_waiting(card)
        and (card.number("watched_idle_ratio") or 0.0) < 1 - MUCH_IDLE
        and (card.number("watched_busy_ratio") or 0.0) < PARTLY_BUSY
    ]
    if partly:
        busy = [_percent(card.number("watched_busy_ratio") or 0.0) for card in partly]
        yield Conclusion(
            severity=Severity.WARNING,
            title=say(
                "Busy for {busy} of the time, with gaps too short to see: {named}", ", ".join(busy), named(partly)
            ),
            explanation=say(
                "Between steps the card waits for the processor: small kernels that Python launches one by one, "
                "values fetched in each step (.item(), print), work on the processor between batches. Few requests "
                "at a time do the same to a server."
            ),
            advice=say(
                "A larger batch first. Then profile ten steps with torch.profiler and paste its table here: it says "
                "which of these it is."
            ),
            cards=indexes(partly),
        )


@RULES.rule(
    "card-slowest",
    "hardware",
    asks="cards that are alike are as fast",
    worst=Severity.WARNING,
    source=NVIDIA_SMI,
    branch="several",
)
def check_slowest(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    """One among at least three alike by its clock, or among two and more by being the only busy one."""
    groups: dict[str, list[CardLook]] = {}
    for card in _working(look):
        groups.setdefault(card.name, []).append(card)
    for group in groups.values():
        for card in group:
            others = [other for other in group if other is not card]
            if len(others) >= 2 and (why := _slower(card, others)):
                yield Conclusion(
                    severity=Severity.WARNING,
                    title=say("{named} is slower than the cards like it: {why}", named([card]), why),
                    explanation=say(
                        "Cards that work together wait for the slowest one in each step: all are as slow as it is, and "
                        "look busy meanwhile."
                    ),
                    advice=_what_holds_it_back(card),
                    cards=indexes([card, *others]),
                )


def _what_holds_it_back(card: CardLook) -> str:
    compare = say("Compare its heat, power limit, cables, slot and place in the air flow with those of the others.")
    if card.vendor != "nvidia":
        return compare
    ask = say("What holds this card back: nvidia-smi -q -d PERFORMANCE,POWER,CLOCK -i {n_index}", card.index)
    return join_sentences([compare, ask])


def _slower(card: CardLook, others: Sequence[CardLook]) -> str:
    """By what it is slower than all of these, in words; "" if it is not."""
    clock = card.number("watched_sm_clock_hz")
    clocks = [value for other in others if (value := other.number("watched_sm_clock_hz")) is not None]
    if clock is not None and len(clocks) == len(others) and clock < SLOWER * min(clocks):
        return say("{clock} MHz against {clock_2} MHz", f"{clock / 1e6:.0f}", f"{median(clocks) / 1e6:.0f}")
    busy = card.number("watched_busy_ratio") or 0.0
    most = max(other.number("watched_busy_ratio") or 0.0 for other in others)
    if busy >= FULLY_BUSY and busy - most >= BUSIER:
        return say("busy {busy} against {busy_2} at most", _percent(busy), _percent(most))
    return ""


@RULES.rule(
    "card-memory-full",
    "hardware",
    asks="memory is left on the card",
    worst=Severity.WARNING,
    source=SYSTEM_MEMORY_FALLBACK,
    branch="works",
)
def check_memory_full(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    """On Windows the driver moves to main memory what does not fit; elsewhere the next allocation fails."""
    full = [card for card in look.cards("nvidia") if _used_ratio(card) >= FULL]
    spilling = [card for card in full if card.get("driver_model") == "WDDM" and not card.is_true("unified_memory")]
    for card in full:
        used, total = _used_bytes(card), card.memory_bytes or 0
        is_spilling = card in spilling
        yield Conclusion(
            severity=Severity.WARNING if is_spilling else Severity.NOTE,
            title=say(
                "The memory of {named} is full: {used} of {total} GiB",
                named([card]),
                f"{used / 2**30:.1f}",
                f"{total / 2**30:.1f}",
            ),
            explanation=(
                say(
                    "Windows then moves what does not fit to shared memory, which is main memory behind the slot: "
                    "nothing fails, and each step is many times slower. The card looks busy and draws little power."
                )
                if is_spilling
                else say(
                    "Programs that reserve memory (vLLM, JAX) fill it by design. For others the next allocation fails, "
                    "and loaders of language models leave layers on the processor."
                )
            ),
            advice=(
                say(
                    "A smaller model, batch, context or quantization (/fit/ works it out); close other programs. In "
                    "the NVIDIA Control Panel, CUDA - Sysmem Fallback Policy: Prefer No Sysmem Fallback makes it fail "
                    "instead of slowing down."
                )
                if is_spilling
                else say(
                    "nvidia-smi lists who holds it. If it is too little: a smaller model, batch or context (/fit/)."
                )
            ),
            cards=indexes([card]),
        )


def _used_bytes(card: CardLook) -> float:
    return card.number("watched_memory_used_bytes") or card.number("memory_used_bytes") or 0.0


def _used_ratio(card: CardLook) -> float:
    return _used_bytes(card) / card.memory_bytes if card.memory_bytes else 0.0


@RULES.rule(
    "card-little-work",
    "hardware",
    asks="the card has enough to do at once",
    worst=Severity.WARNING,
    source=TUNING_GUIDE,
    branch="works",
)
def check_little_work(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    """Busy all the time at little power: `utilization` counts time in which any kernel runs, however small."""
    if not look.problem_rules.isdisjoint({"card-slowest", "card-memory-full"}):
        return
    for card in _working(look):
        power, limit = card.number("watched_power_w"), card.number("power_limit_w")
        traffic = card.number("watched_memory_activity_ratio") or 0.0
        if not power or not limit or (card.number("watched_busy_ratio") or 0.0) < FULLY_BUSY:
            continue
        if power > LITTLE_POWER * limit or traffic > LITTLE_TRAFFIC or card.get("watched_throttle_reasons"):
            continue
        yield Conclusion(
            severity=Severity.WARNING,
            title=say(
                "{named} is busy and has little to do at once: {power} of {limit} W",
                named([card]),
                f"{power:.0f}",
                f"{limit:.0f}",
            ),
            explanation=say(
                "Utilization is the share of time in which any kernel runs, not how much of the card it uses. At this "
                "power most of its units have nothing to do: a small batch, small matrices, or kernels that wait for "
                "each other."
            ),
            advice=say(
                "Double the batch until the time for a step doubles too; then torch.compile, and bf16 where fp32 is "
                "used. Memory for it: /fit/"
            ),
            cards=indexes([card]),
        )


@RULES.rule(
    "card-was-idle", "hardware", asks="the card worked while it was watched", worst=Severity.NOTE, source=NVIDIA_SMI
)
def check_idle(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    idle = [card for card in _watched(look) if card.number("watched_busy_ratio") is None]
    if idle and len(idle) == len(_watched(look)):
        yield Conclusion(
            severity=Severity.NOTE,
            title=say("Nothing ran while it was watched: {named}", named(idle)),
            explanation=say("These readings say nothing about how fast the card is."),
            advice=say("Watch it while the program runs that is slow."),
            cards=indexes(idle),
        )


@RULES.rule(
    "card-one-look",
    "hardware",
    asks="one look shows a loaded card",
    worst=Severity.NOTE,
    source=NVIDIA_SMI,
    branch="wait-or-work",
)
def check_one_look(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    """One table says what a moment was like, and no more."""
    for card in look.cards("nvidia"):
        busy, power, limit = (card.number(name) for name in ("busy_ratio", "power_w", "power_limit_w"))
        if busy is None or card.number("watched_readings") is not None or card.number("compute_processes") is not None:
            continue
        if _used_ratio(card) < LEAST_USED:
            continue
        is_partly = ONE_LOOK_LEAST <= busy < PARTLY_BUSY
        has_little = busy >= FULLY_BUSY and bool(power and limit and power <= LITTLE_POWER * limit)
        if not is_partly and not has_little:
            continue
        draws = say(", {power} of {limit} W", f"{power:.0f}", f"{limit:.0f}") if power and limit else ""
        yield Conclusion(
            severity=Severity.NOTE,
            title=say("One look at {named}: busy {busy}{draws}", named([card]), _percent(busy), draws),
            explanation=(
                say("It works for a part of the time, or waits in between: one look cannot tell which.")
                if is_partly
                else say("It is busy and draws little power: small work, memory traffic, or a moment of waiting.")
            ),
            advice=say("Watch it for a minute and paste what it prints: nvidia-smi dmon -s pucmt -c 60"),
            cards=indexes([card]),
        )
