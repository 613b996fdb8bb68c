"""Do the versions around torch agree: what runs and what is listed, its CUDA, and packages made for one torch only."""

import re
from collections.abc import Iterable, Iterator

from stackviz.base.sentence import say
from stackviz.report.format.systems import is_cpu_build, wheel_variant
from stackviz.report.rules.checks.builds import Origin, origin_of
from stackviz.report.rules.checks.companions import COMPANIONS, fits, installable_release
from stackviz.report.rules.compatibility import Requirement, RuleSource, Tables
from stackviz.report.rules.look import Look
from stackviz.report.rules.rule import Conclusion, RuleSet, Severity
from stackviz.report.rules.versions import is_below, major_minor, numbers

RULES = RuleSet(order=40)

COLLECT_ENV = RuleSource(
    "pytorch-collect-env",
    "pytorch/pytorch, torch/utils/collect_env.py",
    "https://github.com/pytorch/pytorch/blob/main/torch/utils/collect_env.py",
)
PREVIOUS_VERSIONS = RuleSource(
    "pytorch-previous-versions",
    "PyTorch, Previous Versions",
    "https://pytorch.org/get-started/previous-versions/",
)
_PUBLISHED_BUILD = re.compile(r"cpu|xpu|cu\d{2,4}|rocm\d{1,2}(?:\.\d{1,3}){1,2}")
_POST = re.compile(r"\.post\d{1,9}\b")


def _same(version: str, other: str) -> bool:
    """Whether two listings may mean one build: a local part (+cu118) or .post2 that only one of them writes is none."""
    public, _, local = _POST.sub("", version).partition("+")
    other_public, _, other_local = _POST.sub("", other).partition("+")
    return public == other_public and (not local or not other_local or local == other_local)


def _public(version: str) -> str:
    return version.partition("+")[0]


@RULES.rule(
    "torch-versions-disagree", "pytorch", asks="only one torch is installed", worst=Severity.WARNING, source=COLLECT_ENV
)
def check_versions(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    if look.states_none("torch.version"):
        return
    listed = [version for version in look.software("pytorch") if version]
    if not listed:
        return
    running = look.need("torch.version")
    others = [version for version in listed if not _same(version, running)]
    if others and all(_public(version) == _public(running) for version in others):
        yield Conclusion(
            severity=Severity.NOTE,
            title=say("torch {running} runs, but {others} was installed", running, ", ".join(others)),
            explanation=say(
                "The same version, built from different commits: a source tree was rebuilt without being installed."
            ),
            advice=say("Install it again from the source tree, so that extensions are built against what runs."),
        )
    elif others:
        yield Conclusion(
            severity=Severity.WARNING,
            title=(
                say(
                    "torch versions disagree: {running} runs, {others} is listed as installed",
                    running,
                    ", ".join(others),
                )
                if len(others) == 1
                else say(
                    "torch versions disagree: {running} runs, {others} are listed as installed",
                    running,
                    ", ".join(others),
                )
            ),
            explanation=say(
                "Several copies of torch are installed for this Python, or the list is from another environment. "
                "Which one a program gets depends on sys.path; extensions may be compiled against the other."
            ),
            advice=say(
                'python -c "import torch; print(torch.__file__)", then uninstall the others with pip and conda.'
            ),
        )
    else:
        yield Conclusion(
            severity=Severity.FITS, title=say("torch {running} runs, and the same version is listed", running)
        )


@RULES.rule(
    "torch-cuda-unpublished",
    "pytorch",
    asks="torch was published for this CUDA",
    worst=Severity.NOTE,
    source=PREVIOUS_VERSIONS,
    needs=("pytorch", "cuda-runtime"),
)
def check_cuda_offered(look: Look, tables: Tables) -> Iterator[Conclusion]:
    torch, cuda = look.get("torch.version"), look.get("torch.cuda_version")
    if torch is None or cuda is None or torch.partition("+")[2] == wheel_variant(cuda):
        return
    if origin_of(torch) is not Origin.RELEASE:
        return
    release = ".".join(str(part) for part in numbers(torch)[:3])
    rows = [row for row in tables.rows("pytorch", "offers", "cuda-runtime") if row.version == release and row.values]
    offered = " ".join(row.values for row in rows).split()
    if not rows:
        if is_below(_newest(tables), torch):
            yield Conclusion(
                severity=Severity.CANNOT_TELL,
                title=say(
                    "Cannot tell whether torch {release} was published for CUDA {cuda}: the release is not known here",
                    release,
                    cuda,
                ),
            )
    elif major_minor(cuda) in offered or not offered[0][:1].isdigit():
        title = say("torch {release} is published for CUDA {major_minor}", release, major_minor(cuda))
        yield Conclusion(severity=Severity.FITS, title=title, source=rows[0].source)
    else:
        yield Conclusion(
            severity=Severity.NOTE,
            title=say(
                "torch {release} was published for CUDA {offered}, but CUDA {cuda} is reported",
                release,
                ", ".join(offered),
                cuda,
            ),
            explanation=say(
                "Either it is a custom build (by a distribution, a vendor or yourself), or the number belongs to "
                "something else: the toolkit, or what nvidia-smi prints."
            ),
            advice=say('python -c "import torch; print(torch.version.cuda)" prints the CUDA torch was built with.'),
            source=rows[0].source,
        )


def _newest(tables: Tables) -> str:
    versions = [row.version for row in tables.rows("pytorch", "offers", "cuda-runtime")]
    return max(versions, key=numbers, default="0")


@RULES.rule(
    "companion-version",
    "pytorch",
    asks="companion packages match the release of torch",
    worst=Severity.WARNING,
    source=COLLECT_ENV,
)
def check_companions(look: Look, tables: Tables) -> Iterator[Conclusion]:
    """TorchVision and TorchAudio are compiled for one release of torch each; Triton is pinned by it."""
    if look.states_none("torch.version"):
        return
    companions = {slug: version for slug in (*COMPANIONS, "triton") for version in _stated(look.software(slug))}
    torch = look.need("torch.version") if companions else ""
    if not companions or origin_of(torch) is not Origin.RELEASE:
        return
    for slug, version in companions.items():
        if slug == "triton":
            wanted = _triton_of(look, tables, torch)
            if wanted and not any(_same_release(version, expected) for expected in wanted):
                yield _of_triton(torch, version, wanted[-1])
            continue
        rows = _rows_of(tables, slug, version)
        if rows and not any(fits(row, torch) for row in rows):
            yield _of_torch(slug, torch, version, _made_for(rows[-1]), _companion_of(look, tables, slug))


@RULES.rule(
    "companion-build",
    "torchvision",
    asks="companion packages are of the same build as torch",
    worst=Severity.WARNING,
    source=COLLECT_ENV,
)
def check_companion_builds(look: Look, tables: Tables) -> Iterator[Conclusion]:
    """A build with CUDA beside one for the CPU: its operators are not found (torchvision::nms)."""
    torch = look.get("torch.version") or ""
    for slug, name in COMPANIONS.items():
        listed = [version for version in look.software(slug) if "+" in version]
        for version in listed[:1]:
            mixed = (is_cpu_build(torch) and version.partition("+")[2].startswith("cu")) or (
                is_cpu_build(version) and torch.partition("+")[2].startswith("cu")
            )
            if mixed:
                yield Conclusion(
                    severity=Severity.WARNING,
                    title=say(
                        "{name} {version} is built for another build of torch: this is torch {torch}",
                        name,
                        version,
                        torch,
                    ),
                    explanation=say(
                        "One is the build for the CPU, the other has CUDA. Compiled operators are then not found: "
                        "operator torchvision::nms does not exist."
                    ),
                    advice=say("{name} of the same build: {companion_of}", name, _companion_of(look, tables, slug)),
                    component=slug,
                )


def _of_triton(torch: str, version: str, wanted: str) -> Conclusion:
    return Conclusion(
        severity=Severity.WARNING,
        title=say("Triton {version} does not match torch {torch}, which ships with {wanted}", version, torch, wanted),
        explanation=say(
            "torch.compile relies on features of the Triton release it ships with; another release may lack them."
        ),
        advice=f"pip install --force-reinstall triton=={wanted}",
        component="triton",
    )


def _of_torch(slug: str, torch: str, version: str, wanted: str, companion: str) -> Conclusion:
    return Conclusion(
        severity=Severity.WARNING,
        title=say(
            "{companions} {version} is made for torch {wanted}, but this is torch {torch}",
            COMPANIONS[slug],
            version,
            wanted,
            torch,
        ),
        explanation=say(
            "It is compiled for one release of torch; with another it fails to load, or an operator is missing."
        ),
        advice=say("Keep the current torch, whose build pip would otherwise replace: {companion}", companion),
        component=slug,
    )


def _companion_of(look: Look, tables: Tables, slug: str) -> str:
    """How to install the one for the torch that runs, from where its own build came; torch is not asked for again."""
    torch = look.need("torch.version")
    build = torch.partition("+")[2] or wheel_variant(look.get("torch.cuda_version") or "")
    index = (
        say(" --index-url https://download.pytorch.org/whl/{build}", build) if _PUBLISHED_BUILD.fullmatch(build) else ""
    )
    pythons = filter(None, [major_minor(look.get("python.version") or "")])
    release = installable_release(tables, slug, torch, look.wheel_platform, pythons, build if index else "")
    if release is None:
        same = ".".join(str(part) for part in numbers(torch)[:3])  # stays as it is: pip finds it satisfied
        return f"pip uninstall -y {slug}; pip install {slug} torch=={same}{index}"
    return f"pip install --force-reinstall --no-deps {slug}=={release.version}{index}"


def _stated(versions: Iterable[str]) -> list[str]:
    return [version for version in versions if numbers(version) and origin_of(version) is Origin.RELEASE][:1]


def _same_release(version: str, other: str) -> bool:
    return numbers(version)[:3] == numbers(other)[: len(numbers(version)[:3])] or major_minor(version) == other


def _rows_of(tables: Tables, slug: str, version: str) -> list[Requirement]:
    """What this release of a companion was made for; empty if the tables do not say."""
    release = numbers(version)[:3]
    return [row for row in tables.rows(slug, "needs", "pytorch") if numbers(row.version) == release]


def _made_for(row: Requirement) -> str:
    return row.values.split()[-1] if row.values else say("{low} and newer", row.low)


def _triton_of(look: Look, tables: Tables, torch: str) -> list[str]:
    rows = tables.rows("pytorch", "ships", "triton", platform=look.wheel_platform)
    return [version for row in rows if numbers(row.version) == numbers(torch)[:3] for version in row.values.split()]
