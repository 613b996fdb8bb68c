"""The program around torch: how it shows in a text, and how it gets another torch. Standard library only."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast

from stackviz.base.sentence import Sentence, say
from stackviz.report.messages.symptom import table_rows

__all__ = ["AROUND_TORCH", "AroundTorch", "programs_around_torch"]

Kind = Literal["image", "embedded", "environment", "release", "pinned", "notebook", "project"]
_MOST_CHARS = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class AroundTorch:
    """`words`: one of them, in lower case, is in a text of the program. `step`: how it gets another torch.

    `kind` says what its torch belongs to: an image, a Python that it brings, a release that has no torch to exchange.
    """

    key: str
    name: str
    kind: Kind
    words: tuple[str, ...]
    step: str
    source_url: str

    @property
    def keeps_torch(self) -> bool:
        """Whether no other torch may be installed: the program's own release or image brings it."""
        return self.kind in ("image", "release", "pinned", "notebook")

    @property
    def advice(self) -> Sentence:
        """Return the step of the program, in a sentence or two."""
        if self.kind == "image":
            return say(
                "Take a newer image of {program}: {step}. Another torch in it breaks what was compiled for the first, "
                "and an image for CUDA 13 needs driver 580 or newer.",
                self.name,
                self.step,
            )
        if self.kind == "release":
            return say("{program} brings its own code for GPUs: update it with {step}.", self.name, self.step)
        if self.kind == "pinned":
            return say(
                "{program} pins its torch: update {program_2} rather than torch alone: {step}. Builds for CUDA 13 need "
                "driver 580 or newer.",
                self.name,
                self.name,
                self.step,
            )
        if self.kind == "notebook":
            return say("{program} has torch for its own GPUs: choose one with {step}.", self.name, self.step)
        if self.kind == "project":
            return say(
                "{program} manages this environment: change {step}, or its next run puts the old build back.",
                self.name,
                self.step,
            )
        return say(
            "{program} has its own Python, and pip of another one changes nothing there; its own way: {step}.",
            self.name,
            self.step,
        )


AROUND_TORCH: Mapping[str, AroundTorch] = {
    row["key"]: AroundTorch(
        key=row["key"],
        name=row["name"],
        kind=cast("Kind", row["kind"]),
        words=tuple(filter(None, row["words"].split("|"))),
        step=row["step"],
        source_url=row["source_url"],
    )
    for row in table_rows("around_torch")
}
"""By key; what comes first counts more: an image of vLLM is one, and vLLM too."""


def programs_around_torch(text: str) -> list[AroundTorch]:
    """Return the programs that the text is of, the most telling first."""
    lowered = text[:_MOST_CHARS].lower()
    return [program for program in AROUND_TORCH.values() if any(term in lowered for term in program.words)]
