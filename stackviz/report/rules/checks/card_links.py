"""Links that are down, cards that are not on the fabric, that others use, or that the board brakes."""

from collections.abc import Iterator, Sequence

from stackviz.base.sentence import join_sentences, say
from stackviz.report.rules.checks.grouping import indexes, named
from stackviz.report.rules.compatibility import RuleSource, Tables
from stackviz.report.rules.look import CardLook, Look
from stackviz.report.rules.rule import Conclusion, RuleSet, Severity

RULES = RuleSet(order=72)

FABRIC = RuleSource(
    "nvidia-fabric-manager",
    "NVIDIA Fabric Manager, user guide",
    "https://docs.nvidia.com/datacenter/tesla/fabric-manager-user-guide/index.html",
)
NVML = RuleSource("nvml-api", "NVML API reference", "https://docs.nvidia.com/deploy/nvml-api/index.html")
NVIDIA_SMI = RuleSource(
    "nvidia-smi-manual", "nvidia-smi, manual page", "https://docs.nvidia.com/deploy/nvidia-smi/index.html"
)
MUCH_MEMORY = 0.05  # of a card, in use although nothing is seen to compute on it


@RULES.rule("nvlink-down", "hardware", asks="every NVLink is up", worst=Severity.WARNING, source=NVML)
def check_links(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    """A card with no link up has no bridge, which is by design; so have bridges for some links only, on all alike."""
    links = {card.index: _links(card) for card in look.cards("nvidia")}
    most = {card.name: 0 for card in look.cards("nvidia")}
    for card in look.cards("nvidia"):
        most[card.name] = max(most[card.name], links[card.index][0])
    behind = [card for card in look.cards("nvidia") if _is_behind(*links[card.index], most[card.name])]
    if behind:
        up = (say("{links} of {sum}", links[card.index][0], sum(links[card.index])) for card in behind)
        yield Conclusion(
            severity=Severity.WARNING,
            title=say("NVLink links are down: {counts} are up on {named}", join_sentences(up, ", "), named(behind)),
            explanation=say(
                "Traffic between cards goes over the links that are left, and all cards of a job wait for the "
                "slowest: collectives lose that share of their bandwidth, or fall back to PCIe."
            ),
            advice=say(
                "nvidia-smi nvlink --status -i {n_index} names the links; nvidia-smi nvlink -e -i {n_index_2} counts "
                "their errors. Save the work on all cards, then reboot. A link that stays down is a fault of the "
                "card, the bridge or the board: have it looked at.",
                behind[0].index,
                behind[0].index,
            ),
            cards=indexes(behind),
        )


def _links(card: CardLook) -> tuple[int, int]:
    """How many are up, and how many down."""
    return int(card.number("nvlink_links") or 0), int(card.number("nvlink_links_down") or 0)


def _is_behind(up: int, down: int, most: int) -> bool:
    if not down:
        return False
    return up < most or down < up  # most of its links are up: bridges of workstations join half of them or fewer


@RULES.rule(
    "fabric-not-joined", "nvidia-driver", asks="the cards have joined the fabric", worst=Severity.BROKEN, source=FABRIC
)
def check_fabric(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    outside = [card for card in look.cards("nvidia") if (card.get("fabric_state") or "completed") != "completed"]
    if outside:
        states = ", ".join(dict.fromkeys(card.get("fabric_state") or "" for card in outside))
        yield Conclusion(
            severity=Severity.BROKEN,
            title=say("The fabric of NVSwitches is not ready ({states}): {named}", states, named(outside)),
            explanation=say(
                "Cards behind NVSwitches must be joined to the fabric before CUDA starts on them; until then it "
                "answers 802, system not yet initialized."
            ),
            advice=say(
                "systemctl status nvidia-fabricmanager; sudo systemctl restart nvidia-fabricmanager, of the driver's "
                "version. In-progress may end by itself within minutes. To check: nvidia-smi -q"
            ),
            cards=indexes(outside),
        )


@RULES.rule("card-busy", "hardware", asks="others use the card", worst=Severity.NOTE, source=NVIDIA_SMI)
def check_busy(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    """Only where the agent has counted: a text that somebody pastes often shows the job it is about."""
    busy = [card for card in look.cards("nvidia") if _is_busy(card)]
    if busy:
        yield Conclusion(
            severity=Severity.NOTE,
            title=say("Other programs use {named}", named(busy)),
            explanation=say(
                "What is measured on such a card meanwhile is slower than the card is; its memory is short."
            ),
            advice=say("nvidia-smi lists the processes. Measure when they have ended, or choose a free card."),
            cards=indexes(busy),
        )


def _is_busy(card: CardLook) -> bool:
    processes = card.number("compute_processes")
    if processes is None:
        return False
    used = card.number("memory_used_bytes") or 0
    card.number("busy_ratio")  # as evidence
    hidden = not card.is_true("display_attached") and used > MUCH_MEMORY * (card.memory_bytes or float("inf"))
    return processes > 0 or hidden  # a container does not see the processes of others


def _braked(cards: Sequence[CardLook], reason: str) -> list[CardLook]:
    return [card for card in cards if reason in (card.get("throttle_reasons") or "").split()]


@RULES.rule("power-brake", "hardware", asks="the board slows the card", worst=Severity.WARNING, source=NVML)
def check_power_brake(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    braked = _braked(look.cards("nvidia"), "hw_power_brake_slowdown")
    if braked:
        yield Conclusion(
            severity=Severity.WARNING,
            title=say("The power brake slows {named}", named(braked)),
            explanation=say(
                "Something outside the card asks it to draw less at once, as a rule the server's power supply: clocks "
                "fall to half or less until it lets go."
            ),
            advice=say(
                "Look at the power supplies and their redundancy in the server's management (ipmitool sel list), at "
                "the power cap of the rack, and at the card's power cables. To check: nvidia-smi -q -d PERFORMANCE"
            ),
            cards=indexes(braked),
        )
