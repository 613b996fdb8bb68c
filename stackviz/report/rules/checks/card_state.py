"""How the cards are doing: PCIe link, throttled clocks, memory errors, memory that is not what the name says."""

from collections.abc import Iterator, Sequence

from stackviz.base.sentence import say
from stackviz.report.rules.checks.cuda_start import consumer_cards
from stackviz.report.rules.checks.grouping import indexes, named, require_if_mentioned
from stackviz.report.rules.checks.places import reset_command
from stackviz.report.rules.compatibility import RuleSource, Tables
from stackviz.report.rules.known_cards import memory_distance
from stackviz.report.rules.look import CardLook, Look
from stackviz.report.rules.rule import Conclusion, RuleSet, Severity

RULES = RuleSet(order=70)

PCIE_WIDTH = RuleSource(
    "nvsentinel-890",
    "NVIDIA/NVSentinel issue 890: PCIe links narrower than they should be",
    "https://github.com/NVIDIA/NVSentinel/issues/890",
)
PCIE_GENERATION = RuleSource(
    "open-gpu-kernel-modules-1010",
    "NVIDIA/open-gpu-kernel-modules issue 1010: PCIe generation of the link",
    "https://github.com/NVIDIA/open-gpu-kernel-modules/issues/1010",
)
THERMAL = RuleSource(
    "llm-rig-100",
    "rammsguns/llm-rig issue 100: cards slowed by heat",
    "https://github.com/rammsguns/llm-rig/issues/100",
)
SW_POWER_CAP = RuleSource(
    "ninfer-3090-72",
    "ashalliants/ninfer-3090 issue 72: software power cap under load",
    "https://github.com/ashalliants/ninfer-3090/issues/72",
)
REMAP_PENDING = RuleSource(
    "gpud-80", "leptonai/gpud issue 80: rows that wait to be remapped", "https://github.com/leptonai/gpud/issues/80"
)
REMAP_FAILED = RuleSource(
    "eks-node-monitoring-agent-245",
    "aws/eks-node-monitoring-agent issue 245: row remap failure",
    "https://github.com/aws/eks-node-monitoring-agent/issues/245",
)
ECC = RuleSource(
    "k8s-device-plugin-243",
    "NVIDIA/k8s-device-plugin issue 243: uncorrectable memory errors",
    "https://github.com/NVIDIA/k8s-device-plugin/issues/243",
)
ECC_MEMORY = RuleSource(
    "nvidia-smi-manual",
    "nvidia-smi, manual page",
    "https://docs.nvidia.com/deploy/nvidia-smi/index.html",
)
UNDER_LOAD = 0.5  # from this share of the last moments on a card counts as working
IDLE = 0.0
# GDDR keeps the check bits of ECC in the memory itself: one byte of 16 (49,140 MiB become 46,068).
ECC_LEAVES = 15 / 16
ECC_TOLERANCE = 0.006
HOT_C = 83  # where cards begin to lower their clocks, for want of the figure of this one
MUCH_SLOWER = 0.8  # than the highest clock of the same minutes
LOWERED = 0.9  # of the limit from the factory
SHARED_LANES = 8  # of the 16 that a processor for consumers has for cards
OTHER_SIZE = 0.1  # farther from the printed size than any reserve of a driver is


@RULES.rule(
    "pcie-width",
    "hardware",
    asks="the card has all its PCIe lanes",
    worst=Severity.WARNING,
    source=PCIE_WIDTH,
    branch="works",
)
def check_pcie_width(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    cards = [
        card
        for card in look.cards("nvidia")
        if not card.states_none("pcie_width") and not card.is_true("unified_memory")  # GB10 has no slot
    ]
    narrow: dict[tuple[float, float], list[CardLook]] = {}
    for card in cards:
        width, most = card.number("pcie_width"), card.number("pcie_width_max")
        if width is not None and most is not None and width < most:
            narrow.setdefault((width, most), []).append(card)
    for (width, most), group in narrow.items():
        why, what = _why_narrow(look, group, width)
        yield Conclusion(
            severity=Severity.NOTE if why else Severity.WARNING,
            title=(
                say("{named} runs on {n_width} of {n_most} PCIe lanes", named(group), f"{width:g}", f"{most:g}")
                if len(group) == 1
                else say("{named} run on {n_width} of {n_most} PCIe lanes", named(group), f"{width:g}", f"{most:g}")
            ),
            explanation=say(
                "Copies between host and card, and between cards without NVLink, lose bandwidth accordingly. {why}",
                why or say("Consumer boards share 16 lanes between two cards."),
            ),
            advice=what or say("Reseat the card, try another slot, and check the slot's width in the board's manual."),
            cards=indexes(group),
        )
    require_if_mentioned(cards, "pcie_width", "pcie_width_max")


def _why_narrow(look: Look, group: Sequence[CardLook], width: float) -> tuple[str, str]:
    """Why these cards have fewer lanes by design, and what follows; empty where that is not known."""
    if all(card.is_laptop for card in group):
        return say("Laptops are often wired this way."), say("In a laptop this cannot be changed.")
    if (
        width == SHARED_LANES
        and len(group) > 1
        and len(group) == len(look.cards("nvidia")) == len(consumer_cards(look))
    ):
        return (
            say("Consumer boards share 16 lanes between two cards, and all cards here have 8."),
            say("Nothing to do if the board's manual confirms this for these two slots."),
        )
    return "", ""


def _below_its_generation(look: Look) -> Iterator[tuple[CardLook, float | None]]:
    """The cards whose link runs below what it reaches, with how busy they are (None: not told)."""
    for card in look.cards("nvidia"):
        now, most = card.number("pcie_generation"), card.number("pcie_generation_max")
        if now is not None and most is not None and now < most:
            yield card, card.number("busy_ratio")


@RULES.rule("pcie-gen-idle", "hardware", asks="the link is idle", worst=Severity.NOTE, source=PCIE_GENERATION)
def check_pcie_idle(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    idle = [card for card, busy in _below_its_generation(look) if busy is not None and busy <= IDLE]
    if idle:
        yield Conclusion(
            severity=Severity.NOTE,
            title=say("The PCIe link runs at a lower generation while the card is idle: {named}", named(idle)),
            explanation=say(
                "That saves power and says nothing about the slot: the link speeds up with the first copy."
            ),
            advice=say(
                "Check again under load: nvidia-smi -q -d PERFORMANCE,UTILIZATION and the field pcie.link.gen.current."
            ),
            cards=indexes(idle),
        )


@RULES.rule(
    "pcie-gen-load",
    "hardware",
    asks="the link reaches its generation under load",
    worst=Severity.WARNING,
    source=PCIE_GENERATION,
)
def check_pcie_load(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    below = list(_below_its_generation(look))
    loaded = [card for card, busy in below if busy is not None and busy > UNDER_LOAD]
    if loaded:
        yield Conclusion(
            severity=Severity.WARNING,
            title=say("The PCIe link stays below its generation under load: {named}", named(loaded)),
            explanation=say("Each generation below the best halves the bandwidth between host and card."),
            advice=say(
                "Check the slot's generation in the firmware setup, the risers and ASPM; update the board's firmware."
            ),
            cards=indexes(loaded),
        )
    require_if_mentioned([card for card, busy in below if busy is None and card.mentions("busy_ratio")], "busy_ratio")


def _held_back(cards: Sequence[CardLook], *reasons: str) -> list[CardLook]:
    """When it was read, or for much of the time in which it was watched."""
    names = ("throttle_reasons", "watched_throttle_reasons")
    return [card for card in cards if any(set(reasons) & set((card.get(name) or "").split()) for name in names)]


def _slows_when_hot(card: CardLook) -> bool:
    """Whether it was hot, and mostly far below the clock that it began with. No tool says why, where none was asked."""
    clock, most = card.number("watched_sm_clock_hz"), card.number("watched_sm_clock_most_hz")
    heat = card.number("watched_temperature_c")
    if clock is None or most is None or heat is None or card.get("watched_throttle_reasons") is not None:
        return False
    return clock < MUCH_SLOWER * most and heat >= (card.number("slowdown_temperature_c") or HOT_C)


@RULES.rule(
    "thermal-throttle",
    "hardware",
    asks="heat throttles the clocks",
    worst=Severity.WARNING,
    source=THERMAL,
    branch="works",
)
def check_thermal(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    cards = look.cards("nvidia")
    reported = _held_back(cards, "sw_thermal_slowdown", "hw_thermal_slowdown")
    hot = [card for card in cards if card in reported or _slows_when_hot(card)]
    if hot:
        heats = (card.number("watched_temperature_c") or card.number("temperature_c") for card in hot)
        degrees = [f"{value:g} °C" for value in heats if value is not None]
        yield Conclusion(
            severity=Severity.WARNING,
            title=(
                say("Thermal throttling: {named} at {degrees}", named(hot), ", ".join(degrees))
                if degrees
                else say("Thermal throttling: {named}", named(hot))
            ),
            explanation=say("The card is at its thermal limit and lowers its clocks to stay below it."),
            advice=say(
                "Improve the airflow, raise the fan speed, or lower the power limit (sudo nvidia-smi -pl <watts>)."
            ),
            cards=indexes(hot),
        )
    require_if_mentioned(cards, "throttle_reasons")


@RULES.rule(
    "sw-power-cap",
    "hardware",
    asks="the power limit caps the clocks",
    worst=Severity.WARNING,
    source=SW_POWER_CAP,
    branch="works",
)
def check_sw_power_cap(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    """Normal at the limit from the factory; below it the card is slower than others of its kind."""
    cards = look.cards("nvidia")
    capped = [card for card in _held_back(cards, "sw_power_cap") if card.number("busy_ratio") != IDLE]
    lowered = [card for card in capped if _is_lowered(card)]
    normal = [card for card in capped if card not in lowered]
    for card in lowered:
        yield Conclusion(
            severity=Severity.WARNING,
            title=say(
                "{named} is held at a power limit of {limit} W: {default} W is the factory default",
                named([card]),
                f"{card.number('power_limit_w'):g}",
                f"{card.number('power_default_limit_w'):g}",
            ),
            explanation=say("The clocks drop until it stays below the limit: it is slower than others of its kind."),
            advice=say(
                "If this is not on purpose: sudo nvidia-smi -i {n_index} -pl {n_default}",
                card.index,
                f"{card.number('power_default_limit_w'):g}",
            ),
            cards=indexes([card]),
        )
    if normal:
        yield Conclusion(
            severity=Severity.NOTE,
            title=say("The power limit caps the clocks: {named}", named(normal)),
            explanation=say(
                "Normal under full load: the card draws as much power as allowed and runs as fast as that permits."
            ),
            advice=say("Nothing to do, unless the power limit was lowered by mistake."),
            cards=indexes(normal),
        )
    require_if_mentioned(cards, "throttle_reasons")


def _is_lowered(card: CardLook) -> bool:
    limit, default = card.number("power_limit_w"), card.number("power_default_limit_w")
    return limit is not None and default is not None and limit < LOWERED * default


@RULES.rule(
    "row-remap-pending", "hardware", asks="memory repairs are pending", worst=Severity.BROKEN, source=REMAP_PENDING
)
def check_remap_pending(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    cards = look.cards("nvidia")
    waiting = [card for card in cards if card.is_true("remap_pending")]
    if waiting:
        yield Conclusion(
            severity=Severity.BROKEN,
            title=say("Failed memory is waiting to be remapped to spare memory: {named}", named(waiting)),
            explanation=say(
                "The remap takes effect when the card is reset; until then programs can hit the faulty location again."
            ),
            advice=reset_command(waiting[0].index),
            cards=indexes(waiting),
        )
    require_if_mentioned(cards, "remap_pending")


@RULES.rule(
    "row-remap-failure", "hardware", asks="memory could not be repaired", worst=Severity.BROKEN, source=REMAP_FAILED
)
def check_remap_failed(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    cards = look.cards("nvidia")
    failed = [card for card in cards if card.is_true("remap_failed")]
    if failed:
        yield Conclusion(
            severity=Severity.BROKEN,
            title=say("Failed memory could not be remapped: {named}", named(failed)),
            explanation=say("The card has no spare memory left for that location, so it can no longer repair itself."),
            advice=say(
                "Take the card out of service and have it replaced; nvidia-smi -q -d ROW_REMAPPER prints the counts."
            ),
            cards=indexes(failed),
        )
    require_if_mentioned([card for card in cards if not card.states_none("remap_pending")], "remap_failed")


@RULES.rule("ecc-uncorrectable", "hardware", asks="memory had uncorrectable errors", worst=Severity.BROKEN, source=ECC)
def check_ecc(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    cards = look.cards("nvidia")
    counted = [(card, count) for card in cards if (count := card.number("ecc_uncorrected"))]
    if counted:
        errors = ", ".join(f"{count:g}" for _card, count in counted)
        yield Conclusion(
            severity=Severity.BROKEN,
            title=say(
                "Uncorrectable memory errors: {errors} on {named}", errors, named([card for card, _count in counted])
            ),
            explanation=say("A program that read such a location was stopped, or continued with wrong numbers."),
            advice=say(
                "{reset_command} Watch the count (nvidia-smi -q -d ECC), and have the card replaced if it grows again.",
                reset_command(counted[0][0].index),
            ),
            cards=indexes([card for card, _count in counted]),
        )
    require_if_mentioned(cards, "ecc_uncorrected")


@RULES.rule(
    "memory-unlike-name", "hardware", asks="the memory is what the name says", worst=Severity.WARNING, source=ECC_MEMORY
)
def check_memory(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    """Only for names with a single memory size; instances and virtual cards have a share."""
    groups: dict[tuple[int, int, bool], list[CardLook]] = {}
    for card in look.cards("nvidia"):
        printed = card.known.memory_bytes if card.known else None
        if not printed or not card.memory_bytes or _has_a_share(card):
            continue
        with_ecc = abs(_share(printed, card.memory_bytes) - ECC_LEAVES) < ECC_TOLERANCE
        if memory_distance(printed, card.memory_bytes) > OTHER_SIZE or (with_ecc and _ships_without_ecc(card)):
            groups.setdefault((printed, card.memory_bytes, with_ecc), []).append(card)
    for (printed, reported, with_ecc), group in groups.items():
        yield _ecc_share(group, reported) if with_ecc else _other_size(group, printed, reported)


def _share(printed: int, reported: int) -> float:
    return reported / (printed / 10**9 * 2**30)


def _has_a_share(card: CardLook) -> bool:
    virtual = (card.get("virtualization_mode") or "none") == "vgpu"
    if card.is_true("unified_memory"):
        return True
    return virtual or card.get("mig_profile") is not None or card.number("mig_parent_index") is not None


def _ships_without_ecc(card: CardLook) -> bool:
    """Cards for workstations leave the factory with ECC off; those for servers with it on, which is no news."""
    return "RTX" in card.name or "Quadro" in card.name


def _ecc_share(group: Sequence[CardLook], reported: int) -> Conclusion:
    states = [card.is_true("ecc") for card in group]
    whole = reported / ECC_LEAVES / 2**20
    title = say(
        "{named}: {n_reported} MiB of about {n_whole} can be used",
        named(group),
        f"{reported / 2**20:,.0f}",
        f"{whole:,.0f}",
    )
    if False in states:
        return Conclusion(
            severity=Severity.WARNING,
            title=say("{title}, although ECC is off", title),
            explanation=say(
                "A sixteenth is missing, which is what ECC takes from this memory; with ECC off all of it should be "
                "usable. The name or the size may belong to another card."
            ),
            advice=say("nvidia-smi -q -d MEMORY,ECC prints both as the driver reports them."),
            cards=indexes(group),
        )
    return Conclusion(
        severity=Severity.NOTE,
        title=say("{title}: ECC takes a sixteenth", title),
        explanation=say(
            "This card ships with ECC off and all its memory usable. With ECC on, check bits are stored in the same "
            "memory."
        ),
        advice=say(
            "If you do not want ECC: sudo nvidia-smi -e 0; it takes effect with the next reset or reboot, which ends "
            "every program on the card. To undo: sudo nvidia-smi -e 1"
        ),
        cards=indexes(group),
    )


def _other_size(group: Sequence[CardLook], printed: int, reported: int) -> Conclusion:
    return Conclusion(
        severity=Severity.WARNING,
        title=say(
            "{named} reports {n_reported} GiB of memory; a card with this name has {n_printed} GB",
            named(group),
            f"{reported / 2**30:.1f}",
            f"{printed / 1000000000.0:g}",
        ),
        explanation=say(
            "The card is not what its name says (modified, relabelled or virtual), or the text was edited by hand."
        ),
        advice=say(
            "Compare with the PCI device id: nvidia-smi --query-gpu=name,pci.device_id,memory.total --format=csv"
        ),
        cards=indexes(group),
    )
