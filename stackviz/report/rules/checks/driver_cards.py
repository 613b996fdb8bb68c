"""Does the NVIDIA driver know the cards: not too old for their generation, and not after it ended?"""

from collections.abc import Iterator, Sequence

from stackviz.base.sentence import join_sentences, say
from stackviz.report.rules.checks.branches import no_common_branch, where_to_move
from stackviz.report.rules.checks.builds import where_driver
from stackviz.report.rules.checks.grouping import by_capability, indexes, named
from stackviz.report.rules.checks.places import is_jetson
from stackviz.report.rules.compatibility import Requirement, RuleSource, Tables, computed_once, newest_up_to
from stackviz.report.rules.drivers import branch_beyond, first_branch, is_older_than_card, shipped_drivers
from stackviz.report.rules.look import CardLook, Look
from stackviz.report.rules.rule import Conclusion, RuleSet, Severity
from stackviz.report.rules.versions import is_below, numbers

RULES = RuleSet(order=19)

ARCHITECTURES = RuleSource(
    "nvidia-architecture-matrix",
    "CUDA Toolkit, Driver and Architecture Matrix",
    "https://docs.nvidia.com/datacenter/tesla/drivers/cuda-toolkit-driver-and-architecture-matrix.html",
)


@RULES.rule(
    "driver-older-than-card",
    "nvidia-driver",
    asks="the driver already supports the card",
    worst=Severity.BROKEN,
    source=ARCHITECTURES,
    needs=("hardware", "nvidia-driver"),
)
def check_driver_older_than_card(look: Look, tables: Tables) -> Iterator[Conclusion]:
    cards = look.cards("nvidia")
    driver = look.get("nvidia.driver_version")
    if not cards or driver is None or not numbers(driver) or is_jetson(look):  # without: driver-dropped-card asks
        return
    platform = look.driver_platforms[0]  # NVIDIA's branches have the same numbers on both
    if not is_below(driver, _newest_first_branch(tables, platform)):
        cards = [card for card in cards if card.get("compute_capability")]
    for capability, group in by_capability(cards):
        first = first_branch(tables, capability, platform)
        if first and is_older_than_card(tables, driver, capability, platform):
            yield _older(look, tables, driver, capability, group, first)
        elif first:
            title = say(
                "Compute capability {capability} needs a driver of R{low} or newer: has {driver}",
                capability,
                first.low,
                driver,
            )
            yield Conclusion(severity=Severity.FITS, title=title, cards=indexes(group), source=first.source)


@computed_once
def _newest_first_branch(tables: Tables, platform: str) -> str:
    """The branch from which on drivers know every card of the tables."""
    rows = tables.rows("compute-capability", "needs", "nvidia-driver", platform=platform)
    return max((row.low for row in rows), key=numbers, default="")


_UNKNOWN_CARD = say(
    "A driver of an older branch does not know the card: no program sees it, whatever CUDA it is built with."
)


def _older(
    look: Look, tables: Tables, driver: str, capability: str, group: Sequence[CardLook], first: Requirement
) -> Conclusion:
    platform = look.driver_platforms[0]
    title = say(
        "Driver {driver} is older than {named}: capability {capability} begins with R{low}",
        driver,
        named(group),
        capability,
        first.low,
    )
    if look.starts_cuda and len(group) == len(look.cards("nvidia")):
        return Conclusion(
            severity=Severity.WARNING,
            title=say("{title}, but CUDA is reported to start", title),
            explanation=say(
                "Both cannot be true at the same time: the outputs are from different times or machines, or the "
                "driver was changed in between."
            ),
            advice=say("Compare: nvidia-smi; cat /proc/driver/nvidia/version"),
            cards=indexes(group),
            source=first.source,
        )
    return Conclusion(
        severity=Severity.BROKEN,
        title=title,
        explanation=join_sentences([_first_toolkit(tables, first, platform), _UNKNOWN_CARD]),
        advice=where_to_move(look, tables, driver, platform),
        cards=indexes(group),
    )


def _first_toolkit(tables: Tables, first: Requirement, platform: str) -> str:
    """The CUDA that the branch follows from, as a sentence."""
    rows = tables.rows("compute-capability", "needs", "cuda-toolkit")
    toolkit = next((row.low for row in rows if row.version == first.version), "")
    shipped = shipped_drivers(tables, toolkit, platform) if toolkit else ()
    if not shipped:
        return ""
    return say(
        "NVIDIA lists compute capability {version} from CUDA {toolkit} on, which came with driver {values}.",
        first.version,
        toolkit,
        shipped[0].values,
    )


@RULES.rule(
    "driver-dropped-card",
    "nvidia-driver",
    asks="the driver still supports the card",
    worst=Severity.BROKEN,
    source=ARCHITECTURES,
    needs=("nvidia-driver", "hardware"),
)
def check_driver_dropped_card(look: Look, tables: Tables) -> Iterator[Conclusion]:
    cards = look.cards("nvidia")
    driver = look.get("nvidia.driver_version")
    if not cards or (driver is None and not look.mentions("nvidia.driver_version")):
        return
    driver = look.need("nvidia.driver_version")
    platforms = look.driver_platforms
    floors = [row for row in (_serves(tables, driver, platform) for platform in platforms) if row]
    if not floors:
        return
    for capability, group in by_capability(cards):
        dropped = [row for row in floors if is_below(capability, row.low)]
        if dropped and len(dropped) < len(platforms):
            look.need("os.name")
        if not dropped:
            yield from _beyond(tables, driver, capability, group, platforms)
        else:
            yield Conclusion(
                severity=Severity.BROKEN,
                title=say(
                    "Driver {driver} no longer supports {named} (capability {capability})",
                    driver,
                    named(group),
                    capability,
                ),
                explanation=say(
                    "A driver of R{version} or newer supports compute capability {low} and newer only.",
                    dropped[0].version,
                    dropped[0].low,
                ),
                advice=_last_branch_for(look, tables, capability, platforms[0]),
                cards=indexes(group),
                source=dropped[0].source,
            )


def _beyond(
    tables: Tables, driver: str, capability: str, group: Sequence[CardLook], platforms: Sequence[str]
) -> Iterator[Conclusion]:
    """Of a branch that came after the tables nobody here knows what it supports."""
    newest = [branch_beyond(tables, driver, platform) for platform in platforms]
    if all(newest):
        title = say(
            "Cannot tell whether driver {driver} still supports capability {capability}: R{newest} is the newest "
            "branch on record",
            driver,
            capability,
            newest[0],
        )
        yield Conclusion(severity=Severity.CANNOT_TELL, title=title, cards=indexes(group))


@computed_once
def _serves(tables: Tables, driver: str, platform: str) -> Requirement | None:
    """The lowest compute capability a driver serves; None if the tables do not reach back to it."""
    rows = tables.rows("nvidia-driver", "supports", "compute-capability", platform=platform)
    return next(iter(newest_up_to(rows, driver)), None)


def _last_branch_for(look: Look, tables: Tables, capability: str, platform: str) -> str:
    if contradiction := no_common_branch(look, tables, platform):
        return contradiction
    branches = tables.rows("nvidia-driver", "supports", "compute-capability", platform=platform)
    fitting = [row.version for row in branches if row.low and not is_below(capability, row.low)]
    if not fitting:
        return say("No driver branch known here supports this capability: use another card.")
    return say(
        "Go back{where_driver} to a driver of the R{fitting} branch, the last one for compute capability "
        "{capability}. It takes effect with a reboot, which ends every program. To check: nvidia-smi lists the card",
        where_driver(look),
        fitting[-1],
        capability,
    )
