"""How the cards are set up: power limit, MIG, mixed generations, PCIe lanes. Also: cards grouped and named."""

from collections.abc import Iterator, Sequence

from stackviz.rules.compatibility import Source, Tables
from stackviz.rules.finding import Severity, Verdict
from stackviz.rules.look import CardLook, Look
from stackviz.rules.rule import Rule
from stackviz.rules.versions import numbers

POWER_LIMIT = Source(
    "idrac-throttling",
    "l4rz/reverse-engineering-dell-idrac, issue 3: GPUs held below their default power limit",
    "https://github.com/l4rz/reverse-engineering-dell-idrac-to-get-rid-of-gpu-throttling/issues/3",
)
MIG = Source(
    "pytorch-issue-130181",
    "pytorch/pytorch issue 130181: one MIG instance per process",
    "https://github.com/pytorch/pytorch/issues/130181",
)
MIXED = Source(
    "unsloth-issue-5876",
    "unslothai/unsloth issue 5876: cards of differing capability",
    "https://github.com/unslothai/unsloth/issues/5876",
)
PCIE_WIDTH = Source(
    "nvsentinel-890",
    "NVIDIA/NVSentinel issue 890: PCIe links narrower than they should be",
    "https://github.com/NVIDIA/NVSentinel/issues/890",
)
POWER_LIMIT_TOLERANCE_W = 0.5  # drivers state limits in milliwatts, rounded


def named(cards: Sequence[CardLook]) -> str:
    """What to call these cards in a sentence: the name once, and which ones if they are not the only kind."""
    names = dict.fromkeys(card.name for card in cards)
    numbers_text = ", ".join(str(card.index) for card in cards)
    return f"{' / '.join(names)} (card{'s' if len(cards) > 1 else ''} {numbers_text})"


def indexes(cards: Sequence[CardLook]) -> tuple[int, ...]:
    return tuple(card.index for card in cards)


def by_capability(cards: Sequence[CardLook]) -> Iterator[tuple[str, list[CardLook]]]:
    """The cards grouped by compute capability, lowest first; after them NotReported if one did not say."""
    groups: dict[str, list[CardLook]] = {}
    for card in cards:
        groups.setdefault(card.get("compute_capability") or "", []).append(card)
    silent = groups.pop("", [])
    yield from sorted(groups.items(), key=lambda item: numbers(item[0]))
    if silent:
        silent[0].need("compute_capability")


def check_power_limit(look: Look, _tables: Tables) -> Iterator[Verdict]:
    lowered = []
    silent = []
    for card in look.cards("nvidia"):
        limit, default = card.number("power_limit_w"), card.number("power_default_limit_w")
        if limit is None or default is None:
            silent.append((card, "power_limit_w" if limit is None else "power_default_limit_w"))
        elif limit < default - POWER_LIMIT_TOLERANCE_W:
            lowered.append((card, limit, default))
    for limit, default in dict.fromkeys((limit, default) for _, limit, default in lowered):
        group = [card for card, *limits in lowered if limits == [limit, default]]
        yield Verdict(
            Severity.NOTE,
            f"{named(group)}: power limit {limit:g} W, {default:g} W from the factory",
            "Under full load the clocks fall until the card stays below its limit: results are lower than those of "
            "the same card at its default, and are compared with a remark.",
            f"If it is not kept on purpose: sudo nvidia-smi -i {group[0].index} -pl {default:g}",
            cards=indexes(group),
        )
    if silent:
        card, name = silent[0]
        card.need(name)


def check_mig(look: Look, _tables: Tables) -> Iterator[Verdict]:
    on = [card for card in look.cards("nvidia") if (card.get("mig_mode") or "").lower() == "enabled"]
    if on:
        yield Verdict(
            Severity.NOTE,
            f"MIG is on: {named(on)}",
            "The card is cut into instances; one process sees one of them, with its share of memory and processors.",
            "Choose an instance with CUDA_VISIBLE_DEVICES=MIG-<uuid>; nvidia-smi -L lists them.",
            cards=indexes(on),
        )


def check_mixed(look: Look, _tables: Tables) -> Iterator[Verdict]:
    cards = look.cards("nvidia")
    if len(cards) < 2:
        return
    groups = list(by_capability(cards))
    if len(groups) > 1:
        said = ", ".join(capability for capability, _ in groups)
        yield Verdict(
            Severity.WARNING,
            f"Cards of differing compute capability in one machine: {said}",
            "A build must carry code for the lowest and the highest; work split over both waits for the slower one. "
            "nvidia-smi counts cards by bus, CUDA by speed, so indexes may not mean the same card.",
            "Set CUDA_DEVICE_ORDER=PCI_BUS_ID so that indexes agree, and check each card against the torch build.",
            cards=indexes(cards),
        )


def check_pcie_width(look: Look, _tables: Tables) -> Iterator[Verdict]:
    cards = [card for card in look.cards("nvidia") if not card.says_none("pcie_width")]
    silent = None
    for card in cards:
        width, most = card.number("pcie_width"), card.number("pcie_width_max")
        if width is None or most is None:
            silent = silent or (card, "pcie_width" if width is None else "pcie_width_max")
        elif width < most:
            yield Verdict(
                Severity.WARNING,
                f"{named([card])} runs on {width:g} of {most:g} PCIe lanes",
                "Copies between host and card, and between cards without NVLink, have that much less bandwidth.",
                "Reseat the card, try another slot, and compare with the slot's own width in the board's manual.",
                cards=(card.index,),
            )
    if silent:
        silent[0].need(silent[1])


RULES = (
    Rule("power-cap", "hardware", "the power limit was lowered", POWER_LIMIT, check_power_limit),
    Rule("mig-on", "hardware", "the card is cut into instances", MIG, check_mig),
    Rule("mixed-capability", "hardware", "all cards have the same compute capability", MIXED, check_mixed),
    Rule("pcie-width", "hardware", "the card has all its PCIe lanes", PCIE_WIDTH, check_pcie_width),
)
