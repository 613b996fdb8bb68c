"""The mode in which Windows drives an NVIDIA card."""

from collections.abc import Iterator

from stackviz.base.sentence import say
from stackviz.report.rules.checks.grouping import indexes, named
from stackviz.report.rules.compatibility import RuleSource, Tables
from stackviz.report.rules.look import Look
from stackviz.report.rules.rule import Conclusion, RuleSet, Severity

RULES = RuleSet(order=145)

WSL_GUIDE = RuleSource(
    "cuda-on-wsl", "CUDA on WSL User Guide", "https://docs.nvidia.com/cuda/wsl-user-guide/index.html"
)


@RULES.rule("tcc-mode", "hardware", asks="WSL2 may use the card", worst=Severity.NOTE, source=WSL_GUIDE)
def check_tcc(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    """Compute cards of Windows servers are in this mode on purpose; it only surprises those who turn to WSL2."""
    cards = [card for card in look.cards("nvidia") if card.get("driver_model") == "TCC"]
    if cards:
        yield Conclusion(
            severity=Severity.NOTE,
            title=say("In TCC mode, which WSL2 does not serve: {named}", named(cards)),
            explanation=say("Programs of Windows compute on such a card as always. WSL2 sees cards in WDDM mode only."),
            advice=say(
                "Only if WSL2 shall use it, in PowerShell as administrator: nvidia-smi -i {index} -dm 0 and restart "
                "Windows, which ends every program. To undo: nvidia-smi -i {index_2} -dm 1",
                cards[0].index,
                cards[0].index,
            ),
            cards=indexes(cards),
        )
