"""Was the release of torch that pip did not find ever published for that CUDA?"""

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
