"""Was the build of torch that pip did not find ever published, and was the index asked that has it?"""

import re
from collections.abc import Iterator

from stackviz.base.sentence import say
from stackviz.report.format.systems import cuda_of, wheel_variant
from stackviz.report.rules.compatibility import RuleSource, Tables
from stackviz.report.rules.look import Look
from stackviz.report.rules.rule import Conclusion, RuleSet, Severity
from stackviz.report.rules.torch_cudas import published_cudas

RULES = RuleSet(order=121)

PREVIOUS = RuleSource(
    "pytorch-previous-versions",
    "PyTorch, previous versions",
    "https://pytorch.org/get-started/previous-versions/",
)
_OF_INDEX = re.compile(r"torch(?:vision|audio)?==\d[\w.]{0,20}\+(?P<variant>cu\d{2,3}|rocm\d[\d.]{0,6}|cpu|xpu)$")
"""A build that only PyTorch's own indexes have, each under the name of the variant."""
_PINNED_BUILD = re.compile(r"torch==(?P<release>\d\.\d{1,2}\.\d{1,2})\+(?P<variant>cu\d{2,3})")


@RULES.rule(
    "index-lacks-build",
    "pytorch",
    asks="the release of torch was published for that CUDA",
    worst=Severity.BROKEN,
    source=PREVIOUS,
)
def check_index(look: Look, tables: Tables) -> Iterator[Conclusion]:
    pinned = _PINNED_BUILD.search(look.get("message.detail") or "")
    published = published_cudas(tables, pinned["release"]) if pinned else ()
    if pinned and published and look.platform != "macos" and cuda_of(pinned["variant"]) not in published:
        variants = [wheel_variant(cuda) for cuda in published]
        yield Conclusion(
            severity=Severity.BROKEN,
            title=say("torch {release} was not published for {variant}", pinned["release"], pinned["variant"]),
            explanation=say("It was published for: {variants}.", ", ".join(variants)),
            advice=say(
                "pip install torch=={release} --index-url https://download.pytorch.org/whl/{variant}",
                pinned["release"],
                variants[-1],
            ),
        )


@RULES.rule(
    "index-not-asked",
    "pytorch",
    asks="pip asked the index that has this build of torch",
    worst=Severity.BROKEN,
    source=PREVIOUS,
)
def check_index_of_suffix(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    """pip listed this release without the suffix: Python and the system suit it, and PyPI has no suffixes."""
    wanted = look.get("message.detail") or ""
    built = _OF_INDEX.match(wanted)
    is_offered = "plain-offered" in (look.get("message.hints") or "").split()
    if built and is_offered and look.platform != "macos" and "index-lacks-build" not in look.problem_rules:
        yield Conclusion(
            severity=Severity.BROKEN,
            title=say("pip did not ask the index that has {build}", wanted),
            explanation=say(
                "The index that pip asked offers this release without the suffix, so Python and the system suit it. "
                "Builds with the suffix {variant} are only in PyTorch's own index of that name.",
                built["variant"],
            ),
            advice=say(
                "pip install {build} --index-url https://download.pytorch.org/whl/{variant}", wanted, built["variant"]
            ),
        )
