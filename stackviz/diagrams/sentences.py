"""A drawing in sentences, layer by layer, for screen readers. Pure: no ORM, no request.

Libraries. NVIDIA CUDA on Linux: cuDNN 9.26 (fits), NCCL. Apple Metal on macOS: MPSGraph; no counterpart of NCCL.
"""

from collections.abc import Iterator, Mapping, Sequence

from django.utils.translation import gettext as _

from stackviz.diagrams.boxes import Box, StackColumn
from stackviz.diagrams.drawing import LayerRows, LayerSentences
from stackviz.diagrams.layers import State


def layer_sentences(columns: Sequence[StackColumn], layers: Sequence[LayerRows]) -> tuple[LayerSentences, ...]:
    """The layers in sentences, top to bottom."""
    labels: dict[State, str] = {state: state.label for state in State if state is not State.DESCRIBED}
    return tuple(LayerSentences(layer.title, tuple(_sentences(columns, layer, labels))) for layer in layers)


def _sentences(columns: Sequence[StackColumn], layer: LayerRows, labels: Mapping[State, str]) -> Iterator[str]:
    several = len(columns) > 1
    for index, column in enumerate(columns):
        cells = [row.cells[index] for row in layer.rows]
        parts = [", ".join(_called(placed.box, labels) for placed in cell.placed) for cell in cells if cell.placed]
        parts += [cell.missing for cell in cells if not cell.placed and cell.is_gap]
        text = "; ".join(dict.fromkeys(parts)) or _("not described")
        yield _ended(f"{column.title}: {text}" if several else text)
        for placed in (placed for cell in cells for placed in cell.placed):
            for line in placed.lines:
                lead = f"{line.lead}: " if line.lead else "" if line.state.outcome else f"{placed.box.name} "
                yield _ended(lead + line.text)


def _called(box: Box, labels: Mapping[State, str]) -> str:
    label = labels.get(box.state, "")
    return " ".join(filter(None, (box.name, box.version, f"({label})" if label else "")))


def _ended(text: str) -> str:
    return text if text.endswith((".", "!", "?", "。")) else f"{text}."
