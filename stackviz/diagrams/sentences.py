"""A drawing in sentences: what a reader who hears the page is told, layer by layer. Pure: no ORM, no request.

Libraries. NVIDIA CUDA on Linux: cuDNN 9.26 (fits), NCCL. Apple Metal on macOS: MPSGraph; no counterpart of NCCL.
"""

from collections.abc import Iterator, Sequence

from django.utils.translation import gettext as _

from stackviz.diagrams.boxes import Box, Column
from stackviz.diagrams.drawing import LayerRows, Spoken
from stackviz.diagrams.layers import State


def spoken(columns: Sequence[Column], layers: Sequence[LayerRows]) -> tuple[Spoken, ...]:
    """The layers, top to bottom."""
    return tuple(Spoken(layer.title, tuple(_sentences(columns, layer))) for layer in layers)


def _sentences(columns: Sequence[Column], layer: LayerRows) -> Iterator[str]:
    several = len(columns) > 1
    for place, column in enumerate(columns):
        cells = [row.cells[place] for row in layer.rows]
        parts = [", ".join(_called(placed.box) for placed in cell.placed) for cell in cells if cell.placed]
        parts += [cell.missing for cell in cells if not cell.placed and cell.is_gap]
        text = "; ".join(dict.fromkeys(parts)) or _("nothing described")
        yield _ended(f"{column.title}: {text}" if several else text)
        for placed in (placed for cell in cells for placed in cell.placed):
            for said in placed.says:
                lead = f"{said.lead}: " if said.lead else "" if said.state.verdict else f"{placed.box.name} "
                yield _ended(lead + said.text)


def _called(box: Box) -> str:
    said = box.state.word if box.state != State.DESCRIBED else ""
    return " ".join(filter(None, (box.name, box.version, f"({said})" if said else "")))


def _ended(text: str) -> str:
    return text if text.endswith((".", "!", "?", "。")) else f"{text}."
