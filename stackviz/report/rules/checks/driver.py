"""Is the NVIDIA driver right for what runs on it: for torch's CUDA, for the cards, and still supported?"""

from collections.abc import Iterator
from dataclasses import replace

from stackviz.base.sentence import join_sentences, say
from stackviz.report.format.systems import is_cpu_build
from stackviz.report.rules.checks.branches import driver_range, where_to_move
from stackviz.report.rules.checks.builds import advice, covers, published_archs, where_driver
from stackviz.report.rules.checks.cuda_start import compat_path, consumer_cards
from stackviz.report.rules.checks.driver_cards import ARCHITECTURES
from stackviz.report.rules.checks.grouping import indexes, named
from stackviz.report.rules.checks.places import is_jetson
from stackviz.report.rules.checks.steps import JETSON
from stackviz.report.rules.compatibility import Requirement, RuleSource, Tables, newest_up_to
from stackviz.report.rules.drivers import (
    branch_beyond,
    driver_branch,
    driver_floor,
    needed_driver,
    reaches,
    serves,
    shipped_drivers,
)
from stackviz.report.rules.look import DRIVER_PLATFORMS, CardLook, Look, NotReported
from stackviz.report.rules.rule import Conclusion, RuleSet, Severity, command_to_read
from stackviz.report.rules.versions import is_below, major_minor, numbers, same_line

RULES = RuleSet(order=20)

MINOR_VERSION = RuleSource(
    "cuda-minor-version-compatibility",
    "CUDA Compatibility: Minor Version Compatibility",
    "https://docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html",
)
SUPPORTED_DRIVERS = RuleSource(
    "nvidia-supported-drivers-620",
    "NVIDIA Supported Drivers and CUDA Toolkit Versions, 620 edition",
    "https://docs.nvidia.com/datacenter/tesla/drivers/620/supported-drivers-and-cuda-toolkit-versions.html",
)
FORWARD = RuleSource(
    "cuda-forward-compatibility",
    "CUDA Compatibility: Forward Compatibility",
    "https://docs.nvidia.com/deploy/cuda-compatibility/forward-compatibility.html",
)


_FROM_AN_OLD_DRIVER = ("driver-older-than-card", "driver-too-old")


def uses_nvidia(look: Look) -> bool:
    """Whether this machine has an NVIDIA card or at least its driver."""
    return bool(look.cards("nvidia")) or look.get("nvidia.driver_version") is not None


def cuda_of_torch(look: Look) -> str | None:
    """The CUDA version torch was built with; None if there is no torch, none is spoken of, or it has no CUDA."""
    return look.need("torch.cuda_version") if may_have_cuda(look) else None


def may_have_cuda(look: Look) -> bool:
    """Whether there is a torch, and nothing says that it was built without CUDA."""
    if not look.mentions_torch or look.states_none("torch.version") or look.states_none("torch.cuda_version"):
        return False
    return not is_cpu_build(look.get("torch.version") or "")


@RULES.rule(
    "driver-too-old",
    "cuda-runtime",
    asks="the driver is new enough for torch's CUDA",
    worst=Severity.BROKEN,
    source=MINOR_VERSION,
    needs=("cuda-runtime", "nvidia-driver"),
)
def check_driver_too_old(look: Look, tables: Tables) -> Iterator[Conclusion]:
    if not uses_nvidia(look):
        return
    cuda = cuda_of_torch(look)
    if cuda is None:
        return
    driver = look.need("nvidia.driver_version")
    platform = look.driver_platform or _any_platform(tables, driver, cuda)
    floor = driver_floor(tables, cuda, platform)
    api_version = "" if floor else look.get("cuda.driver_api_version") or ""
    runs = serves(tables, driver, cuda, platform, api_version)
    if floor is None and runs is None:
        look.need("cuda.driver_api_version")
    if floor is None:
        yield _by_family(look, tables, cuda, api_version, runs=bool(runs))
        return
    wants = say("CUDA {cuda} needs driver {low} or newer", cuda, floor.low)
    if runs is None:
        yield Conclusion(
            severity=Severity.CANNOT_TELL,
            title=say(
                "Cannot tell whether the driver is new enough: {wants}, and only {driver} of its version is known",
                wants,
                driver,
            ),
            explanation=say("{span} is enough.", driver_range(look, tables, floor.low, platform) or floor.low),
            advice=command_to_read("nvidia.driver_version"),
            source=floor.source,
        )
    elif runs:
        yield Conclusion(severity=Severity.FITS, title=say("{wants}: has {driver}", wants, driver), source=floor.source)
    else:
        forward = _forward(look, tables, say("{wants}; this machine has {driver}", wants, driver), cuda)
        yield forward or _too_old(look, tables, say("{wants}; this machine has {driver}", wants, driver), cuda, floor)


def _any_platform(tables: Tables, driver: str, cuda: str) -> str:
    """One of the platforms where the floors of all give the same answer; "" where the platform matters."""
    floors = [floor for platform in DRIVER_PLATFORMS if (floor := driver_floor(tables, cuda, platform))]
    answers = {reaches(tables, driver, floor.low, "") for floor in floors}
    return DRIVER_PLATFORMS[0] if len(floors) == len(DRIVER_PLATFORMS) and len(answers) == 1 else ""


def _forward(look: Look, tables: Tables, title: str, cuda: str) -> Conclusion | None:
    """A newer libcuda that stands in for an older driver, as containers bring it: the floor is not the driver's."""
    path = compat_path(look)
    failed = look.number("cuda.init_code") not in (None, 0)
    if not path or failed or consumer_cards(look):
        return None
    branch = driver_branch(tables, look.need("nvidia.driver_version"), look.driver_platform)
    rows = tables.rows("cuda-compat", "supports", "nvidia-driver", platform=look.driver_platform)
    named = next((row for row in rows if numbers(row.version) == numbers(major_minor(cuda))), None)
    source = named.source if named else FORWARD
    title = say("{title}, and a forward-compatibility library ({path})", title, path)
    if look.starts_cuda or (named and branch in named.values.split()):
        return Conclusion(severity=Severity.FITS, title=say("{title} that supports it", title), source=source)
    known = (
        say("for CUDA {major_minor} of R{split}", major_minor(cuda), ", R".join(named.values.split()))
        if named
        else say("from certain branches")
    )
    return Conclusion(
        severity=Severity.NOTE,
        title=title,
        explanation=say(
            "It builds on the older driver, and works on data-center cards with drivers {known} only.", known
        ),
        advice=say("Nothing to do if CUDA starts; otherwise update the driver to one of these branches."),
        source=source,
    )


def _by_family(look: Look, tables: Tables, cuda: str, api_version: str, *, runs: bool) -> Conclusion:
    """No floor is published for this platform: the driver or the tables say which CUDA family it serves."""
    driver = look.need("nvidia.driver_version")
    if runs:
        serving = (
            say("{driver} supports {api_version}", driver, api_version)
            if api_version
            else say("{driver} is from a branch that supports it", driver)
        )
        return Conclusion(
            severity=Severity.FITS,
            title=say("CUDA {cuda} needs a driver for its major version: {serving}", cuda, serving),
        )
    serving = (
        say("supports CUDA up to {api_version}", api_version) if api_version else say("is from a branch for older ones")
    )
    return _too_old(
        look,
        tables,
        say("torch is built for CUDA {cuda}; driver {driver} {serving}", cuda, driver, serving),
        cuda,
        None,
    )


def _too_old(look: Look, tables: Tables, title: str, cuda: str, floor: Requirement | None) -> Conclusion:
    update, source = _update(look, tables, cuda, floor), floor.source if floor else None
    is_unknown_card = "driver-older-than-card" in look.broken_rules  # then no build helps
    if look.works("cuda"):
        return Conclusion(
            severity=Severity.WARNING,
            title=say("{title}, but CUDA is reported as available", title),
            explanation=say(
                "Both cannot be true at the same time: the driver may have been changed since, an unreported "
                "forward-compatibility library may be in use, or the text combines two machines."
            ),
            advice=say(
                "Compare cat /proc/driver/nvidia/version with nvidia-smi. {update} if it is as old as stated.", update
            ),
            source=source,
        )
    return Conclusion(
        severity=Severity.BROKEN,
        title=title,
        explanation=join_sentences(
            [
                say(
                    "The CUDA runtime inside the torch wheel rejects a driver below the minimum for its major version: "
                    "torch sees no GPU at all."
                ),
                _error_of_torch(look),
                _moved_default(look, tables, cuda),
            ]
        ),
        advice=update
        if is_unknown_card
        else say("{update}, or install an older build. {older_build}", update, _older_build(look, tables)),
        source=source,
    )


def _update(look: Look, tables: Tables, cuda: str, floor: Requirement | None) -> str:
    """To which driver, where one serves this CUDA and every card here."""
    platform = look.driver_platforms[0]
    needed = floor or needed_driver(tables, cuda, "", platform)
    if needed is None:
        return say("Update the NVIDIA driver{where_driver}", where_driver(look))
    if span := driver_range(look, tables, needed.low, platform):
        return say("Update the NVIDIA driver{where_driver} to {span}", where_driver(look), span)
    return say("Use other cards, since no driver for this CUDA supports all of these")


def _error_of_torch(look: Look) -> str:
    """The number that torch's error names, where it is known what this driver serves: 12.4 reads 12040."""
    cuda = look.get("cuda.driver_api_version") or ""
    served = numbers(cuda)
    if len(served) < 2:
        return ""
    number = served[0] * 1000 + served[1] * 10
    return say('"found version {number}" in its error is the CUDA {cuda} that the driver supports.', number, cuda)


def _moved_default(look: Look, tables: Tables, cuda: str) -> str:
    """Mentioned where pip installs this CUDA by default, without a choice by the user."""
    torch, platform = look.get("torch.version"), look.wheel_platform
    if torch is None or not platform:
        return ""
    rows = newest_up_to(tables.rows("pytorch", "ships", "cuda-runtime", platform=platform), torch)
    if not any(same_line(row.values, str(numbers(cuda)[0])) for row in rows):
        return ""
    return say(
        "A plain pip install of torch {major_minor} installs CUDA {numbers} here.",
        major_minor(torch),
        numbers(cuda)[0],
    )


def _older_build(look: Look, tables: Tables) -> str:
    capabilities = [card.get("compute_capability") for card in look.cards("nvidia")]
    known = [capability for capability in capabilities if capability]
    if is_jetson(look):
        return JETSON
    if not look.wheel_platform or not known or len(known) < len(capabilities):
        return say("https://pytorch.org/get-started/previous-versions/ gives the command for each CUDA version.")
    return advice(look, tables, known)


@RULES.rule(
    "minor-compat-ptx",
    "cuda-runtime",
    asks="the driver is as new as the CUDA toolkit torch was built with",
    worst=Severity.WARNING,
    source=MINOR_VERSION,
)
def check_driver_before_toolkit(look: Look, tables: Tables) -> Iterator[Conclusion]:
    if not uses_nvidia(look):
        return
    cuda = cuda_of_torch(look)
    if cuda is None:
        return
    driver, platform = look.need("nvidia.driver_version"), look.driver_platform
    if "driver-older-than-card" in look.broken_rules:  # then no program starts, whatever code it has
        return
    shipped = shipped_drivers(tables, cuda, platform)
    if not shipped or not serves(tables, driver, cuda, platform):
        return
    if reaches(tables, driver, shipped[0].values, platform) is not False:
        return
    title = say(
        "Driver {driver} is older than the one that shipped with CUDA {major_minor} ({values})",
        driver,
        major_minor(cuda),
        shipped[0].values,
    )
    needing = _needing_ptx(look, tables, cuda)
    span = driver_range(look, tables, shipped[0].values, platform)
    if needing:
        yield _ptx_only(look, tables, title, shipped[0], needing, span)
    else:
        yield _minor_compatible(look, title, shipped[0], span)


def _ptx_only(
    look: Look, tables: Tables, title: str, shipped: Requirement, needing: list[CardLook], span: str
) -> Conclusion:
    """`span`: the drivers that would do; "" where none supports every card here."""
    update = say("Update the driver{where_driver} to {span}, or use another build.", where_driver(look), span)
    return Conclusion(
        severity=Severity.WARNING,
        title=say("{title}, and would have to compile the code for {named}", title, named(needing)),
        explanation=say(
            "The build has only PTX for this card, and a driver cannot compile PTX of a CUDA newer than its own: the "
            'first kernel fails with "the provided PTX was compiled with an unsupported toolchain".'
        ),
        advice=(
            say("{update} {older_build}", update, _older_build(look, tables))
            if span
            else say("Use another build. {older_build}", _older_build(look, tables))
        ),
        cards=indexes(needing),
        source=shipped.source,
    )


def _minor_compatible(look: Look, title: str, shipped: Requirement, span: str) -> Conclusion:
    update = say(
        "Nothing to do; for extensions that carry only PTX, update the driver{where_driver} to {span}.",
        where_driver(look),
        span,
    )
    return Conclusion(
        severity=Severity.NOTE,
        title=title,
        explanation=say(
            "Programs run under minor-version compatibility, which NVIDIA supports. They cannot use code that this "
            "driver would have to compile from newer PTX, or features of the newer driver."
        ),
        advice=update if span else say("Nothing to do."),
        source=shipped.source,
    )


def _needing_ptx(look: Look, tables: Tables, cuda: str) -> list[CardLook]:
    """The cards for which this torch has no machine code, only PTX that the driver compiles."""
    listed = look.get("torch.arch_list")
    archs = listed.split() if listed else published_archs(look, tables, look.get("torch.version") or "", cuda)
    needing = []
    for card in look.cards("nvidia"):
        capability = card.get("compute_capability") or ""
        kinds = {arch.partition("_")[0] for arch in archs if covers(capability, arch)}
        if kinds == {"compute"}:
            needing.append(card)
    return needing


@RULES.rule(
    "driver-branch-ended",
    "nvidia-driver",
    asks="the driver is still supported",
    worst=Severity.WARNING,
    source=SUPPORTED_DRIVERS,
)
def check_driver_branch_ended(look: Look, tables: Tables) -> Iterator[Conclusion]:
    driver = look.get("nvidia.driver_version")
    if driver is None or not numbers(driver):
        if look.cards("nvidia") and look.mentions("nvidia.driver_version"):
            raise NotReported("nvidia.driver_version")
        return
    conclusions = [_support(look, tables, driver, platform) for platform in look.driver_platforms]
    if len({conclusion.severity for conclusion in conclusions}) > 1:
        look.need("os.name")
    yield _weighed(look, conclusions[0])


def _weighed(look: Look, conclusion: Conclusion) -> Conclusion:
    """An old branch that works is worth knowing; a problem is that the card or torch's CUDA needs a newer one."""
    if conclusion.severity == Severity.WARNING and look.broken_rules.isdisjoint(_FROM_AN_OLD_DRIVER):
        return replace(conclusion, severity=Severity.NOTE)
    return conclusion


_KINDS = {"production": say("production"), "new feature": say("new feature")}


def _support(look: Look, tables: Tables, driver: str, platform: str) -> Conclusion:
    """Whether a driver's branch is supported on the day of the report."""
    day = look.day
    branch = driver_branch(tables, driver, platform)
    release = next((r for r in tables.releases_of("nvidia-driver", platform) if r.version == branch), None)
    if release is None and (oldest := _oldest_supported(tables, day, platform)) and is_below(driver, oldest):
        return Conclusion(
            severity=Severity.WARNING,
            title=say(
                "Driver {driver} is older than every branch that is still supported; the oldest is R{oldest}",
                driver,
                oldest,
            ),
            explanation=say(
                "Its branch is not among those NVIDIA lists as supported: it gets no more fixes, including security "
                "fixes."
            ),
            advice=where_to_move(look, tables, driver, platform),
        )
    if newest := branch_beyond(tables, driver, platform):
        title = say(
            "Cannot tell how long driver {driver} is supported: R{newest} is the newest branch on record",
            driver,
            newest,
        )
        return Conclusion(severity=Severity.CANNOT_TELL, title=title)
    if release is None or not release.support_ends:
        title = say("Cannot tell how long driver {driver} is supported: its branch has no date", driver)
        return Conclusion(severity=Severity.CANNOT_TELL, title=title)
    if release.last_day >= day:
        title = say("Driver branch R{branch} is supported until {support_ends}", branch, release.support_ends)
        return Conclusion(severity=Severity.FITS, title=title, source=release.source)
    return Conclusion(
        severity=Severity.WARNING,
        title=say(
            "Driver branch R{branch} is no longer supported: it ended {support_ends}", branch, release.support_ends
        ),
        explanation=say(
            "{driver} belongs to R{branch} ({line}). After its end a branch gets no more fixes, including security "
            "fixes.",
            driver,
            branch,
            _KINDS.get(release.line, release.line) or "branch",
        ),
        advice=where_to_move(look, tables, driver, platform),
        source=release.source,
    )


def _oldest_supported(tables: Tables, day: str, platform: str) -> str:
    supported = [row.version for row in tables.releases_of("nvidia-driver", platform) if row.last_day >= day]
    return min(supported, key=numbers, default="")


@RULES.rule(
    "smi-cuda-misread",
    "cuda-driver-api",
    asks="the driver's CUDA version is the one in use",
    worst=Severity.NOTE,
    source=ARCHITECTURES,
)
def check_smi_cuda(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    """A number that is read as "the CUDA installed" and is not; silent where nothing else tells a CUDA version."""
    serves = look.get("cuda.driver_api_version")
    torch, toolkit = look.get("torch.cuda_version"), look.get("cuda.toolkit_version")
    stated = [version for version in (torch, toolkit) if version]
    if serves is None or not stated:
        return
    if all(major_minor(version) == major_minor(serves) for version in stated):
        yield Conclusion(severity=Severity.FITS, title=say("The driver supports CUDA up to {serves}", serves))
        return
    installed = [
        say("torch is built with {version}", torch) if torch else "",
        say("the toolkit is {version}", toolkit) if toolkit else "",
    ]
    yield Conclusion(
        severity=Severity.NOTE,
        title=say(
            "CUDA {serves} in nvidia-smi is the newest version the driver supports, not what is installed: {value}",
            serves,
            join_sentences(installed, ", "),
        ),
        explanation=say(
            "torch ships its own CUDA libraries, and nvcc reports the toolkit's version. The three versions need not "
            "be equal."
        ),
        advice=say('Nothing to do. The version torch uses: python -c "import torch; print(torch.version.cuda)"'),
    )
