"""How the cards are set up: power limit, MIG, modes that wait for a reset, mixed generations, names that were cut."""

from collections.abc import Iterator

from stackviz.base.sentence import say
from stackviz.report.rules.checks.grouping import by_capability, indexes, named, require_if_mentioned, stating
from stackviz.report.rules.checks.places import reset_command
from stackviz.report.rules.compatibility import RuleSource, Tables
from stackviz.report.rules.look import CardLook, Look
from stackviz.report.rules.rule import Conclusion, RuleSet, Severity

RULES = RuleSet(order=80)

POWER_LIMIT = RuleSource(
    "idrac-throttling",
    "l4rz/reverse-engineering-dell-idrac, issue 3: GPUs held below their default power limit",
    "https://github.com/l4rz/reverse-engineering-dell-idrac-to-get-rid-of-gpu-throttling/issues/3",
)
MIG = RuleSource(
    "pytorch-issue-130181",
    "pytorch/pytorch issue 130181: one MIG instance per process",
    "https://github.com/pytorch/pytorch/issues/130181",
)
NVIDIA_SMI = RuleSource(
    "nvidia-smi-manual",
    "nvidia-smi, manual page",
    "https://docs.nvidia.com/deploy/nvidia-smi/index.html",
)
MIXED = RuleSource(
    "unsloth-issue-5876",
    "unslothai/unsloth issue 5876: cards of differing capability",
    "https://github.com/unslothai/unsloth/issues/5876",
)
PERSISTENCE = RuleSource(
    "nvidia-driver-persistence",
    "NVIDIA Driver Persistence",
    "https://docs.nvidia.com/deploy/driver-persistence/index.html",
)
POWER_LIMIT_TOLERANCE_W = 0.5  # drivers state limits in milliwatts, rounded


@RULES.rule("power-cap", "hardware", asks="the power limit was lowered", worst=Severity.NOTE, source=POWER_LIMIT)
def check_power_limit(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    cards = look.cards("nvidia")
    if "sw-power-cap" in look.problem_rules:
        return
    lowered: dict[tuple[float, float], list[CardLook]] = {}
    for card in cards:
        limit, default = card.number("power_limit_w"), card.number("power_default_limit_w")
        if limit is not None and default is not None and limit < default - POWER_LIMIT_TOLERANCE_W:
            lowered.setdefault((limit, default), []).append(card)
    for (limit, default), group in lowered.items():
        yield Conclusion(
            severity=Severity.NOTE,
            title=say(
                "{named}: power limit {n_limit} W; factory default {n_default} W",
                named(group),
                f"{limit:g}",
                f"{default:g}",
            ),
            explanation=say(
                "Under full load the clocks drop until the card stays below its limit. Results are lower than those "
                "of the same card at its default, and comparisons mark them."
            ),
            advice=say(
                "If this is not on purpose: sudo nvidia-smi -i {n_index} -pl {n_default}",
                group[0].index,
                f"{default:g}",
            ),
            cards=indexes(group),
        )
    require_if_mentioned(cards, "power_limit_w", "power_default_limit_w")


@RULES.rule("mig-on", "hardware", asks="the card is split into instances", worst=Severity.NOTE, source=MIG)
def check_mig(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    cards = look.cards("nvidia")
    instances = [card for card in cards if _is_instance(card)]
    parents = {card.number("mig_parent_index") for card in instances}
    whole = [card for card in cards if card not in instances]
    on = [card for card in whole if (card.get("mig_mode") or "").lower() == "enabled" or card.index in parents]
    if on or instances:
        profiles = [profile for card in instances if (profile := card.get("mig_profile"))]
        parts: str = ", ".join(profiles)
        if len(profiles) < len(instances):
            many = len(instances) > 1
            parts = say("{n_instances} instances", len(instances)) if many else say("{n_instances} instance", 1)
        cut = say(", split into {profiles}", parts) if instances else ""
        yield Conclusion(
            severity=Severity.NOTE,
            title=say("MIG is on: {named}{cut}", named(on or instances), cut),
            explanation=say(
                "The card is split into instances; a process sees one of them, with its share of memory and processors."
            ),
            advice=say("Choose an instance with CUDA_VISIBLE_DEVICES=MIG-<uuid>; nvidia-smi -L lists them."),
            cards=indexes(on or instances),
        )


def _is_instance(card: CardLook) -> bool:
    return card.get("mig_profile") is not None or card.number("mig_parent_index") is not None


@RULES.rule(
    "reset-pending", "hardware", asks="a mode change is waiting for a reset", worst=Severity.WARNING, source=NVIDIA_SMI
)
def check_reset_pending(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    cards = look.cards("nvidia")
    for now, later, what in (("mig_mode", "mig_pending", "MIG"), ("ecc", "ecc_pending", say("Error correction (ECC)"))):
        waiting = [card for card in stating(cards, now, later) if _mode_of(card, now) != _mode_of(card, later)]
        if waiting:
            yield Conclusion(
                severity=Severity.WARNING,
                title=say(
                    "{what} will be {mode_of} only after the next reset: {named}",
                    what,
                    _mode_of(waiting[0], later),
                    named(waiting),
                ),
                explanation=say("The mode was changed, but the card stays in the old one until it is reset."),
                advice=reset_command(waiting[0].index),
                cards=indexes(waiting),
            )
        require_if_mentioned(stating(cards, later), now, later)


def _mode_of(card: CardLook, name: str) -> str:
    """Return a mode, which is a word or a truth, as a word."""
    text = (card.get(name) or "").lower()
    if text in ("true", "enabled"):
        return say("enabled")
    return say("disabled") if text in ("false", "disabled") else text


@RULES.rule(
    "mixed-capability",
    "hardware",
    asks="all cards have the same compute capability",
    worst=Severity.WARNING,
    source=MIXED,
)
def check_mixed(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    cards = look.cards("nvidia")
    if len(cards) < 2:
        return
    groups = list(by_capability(cards))
    if len(groups) > 1:
        capabilities = ", ".join(capability for capability, _ in groups)
        yield Conclusion(
            severity=Severity.WARNING,
            title=say("Cards with different compute capabilities in one machine: {capabilities}", capabilities),
            explanation=say(
                "A build must carry code for the lowest and the highest; work split over both waits for the slower "
                "one. nvidia-smi numbers cards by bus, CUDA by speed, so the same index may mean different cards."
            ),
            advice=say(
                "Set CUDA_DEVICE_ORDER=PCI_BUS_ID so that indexes agree, and check each card against the torch build."
            ),
            cards=indexes(cards),
        )


@RULES.rule("persistence-off", "nvidia-driver", asks="the driver stays loaded", worst=Severity.NOTE, source=PERSISTENCE)
def check_persistence(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    """Only where no display keeps the driver loaded: there the question has an answer that matters."""
    if look.platform == "windows":
        return
    cards = look.cards("nvidia")
    headless = [card for card in cards if card.is_true("display_attached") is False and not card.is_laptop]
    off = [card for card in headless if card.is_true("persistence_mode") is False]
    if off:
        yield Conclusion(
            severity=Severity.NOTE,
            title=say("Persistence mode is off and no display is attached: {named}", named(off)),
            explanation=say(
                "The driver releases the card when its last process ends. The next program waits seconds for it to "
                "start again, and settings such as a power limit are lost."
            ),
            advice=say(
                "sudo systemctl enable --now nvidia-persistenced, or until the next boot: sudo nvidia-smi -pm 1"
            ),
            cards=indexes(off),
        )
    require_if_mentioned(headless, "persistence_mode")


@RULES.rule("name-cut", "hardware", asks="the name is complete", worst=Severity.NOTE, source=NVIDIA_SMI)
def check_name_cut(look: Look, tables: Tables) -> Iterator[Conclusion]:
    cut = [card for card in look.all_cards if card.is_cut]
    for name in dict.fromkeys(card.name for card in cut):
        group = [card for card in cut if card.name == name]
        may_be = tables.candidates(group[0].vendor, name, group[0].memory_bytes)
        products = list(dict.fromkeys(card.reported_name for card in may_be))
        yield Conclusion(
            severity=Severity.NOTE,
            title=say('The tool that printed the name "{name}" truncated it', name),
            explanation=say("Possible cards: {products}.", ", ".join(products[:6]))
            if products
            else say("No name known here starts like this."),
            advice=say("For the full name: nvidia-smi -L"),
            cards=indexes(group),
        )
