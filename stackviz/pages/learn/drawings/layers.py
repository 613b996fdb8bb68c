"""Pictures of boxes: the layers below a call, units of a Mac, what each of several cards holds, a tree of causes."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from django.utils.translation import gettext as _

from stackviz.draw.diagrams.svg_marks import EDGE, INK_2, LINE, PAPER, Mark, Path, Rect, Sketch, TextMark
from stackviz.draw.diagrams.text_width import lines_of
from stackviz.pages.learn.drawing import SMALL, STRONG, WIDTH, LearnPicture
from stackviz.records.catalog.queries import PublicCatalogue

__all__ = ["DRAWINGS"]

HALF = 172.0
RIGHT = WIDTH - HALF
ROW, BOX = 38.0, 30.0


HARDWARE = "var(--l-hardware)"


def _box(x: float, y: float, width: float, words: str, fill: str, height: float = BOX) -> tuple[Mark, ...]:
    """A box with its words in the middle, on as many lines as they need."""
    lines = lines_of(words, width - 8, SMALL)
    first = y + height / 2 + 4 - 6.5 * (len(lines) - 1)
    texts = (
        TextMark(x=x + width / 2, y=first + 13 * index, text=line, style=SMALL, anchor="middle")
        for index, line in enumerate(lines)
    )
    return (Rect(x=x, y=y, width=width, height=height, fill=fill, stroke=EDGE, radius=3), *texts)


def one_call(_catalogue: PublicCatalogue) -> LearnPicture:
    """Two columns of layers, from Python to silicon."""
    marks: list[Mark] = [
        TextMark(x=HALF / 2, y=14, text="NVIDIA", style=STRONG, anchor="middle"),
        TextMark(x=RIGHT + HALF / 2, y=14, text="Apple", style=STRONG, anchor="middle"),
        Rect(x=0, y=19, width=HALF, height=3, fill="var(--nvidia)"),
        Rect(x=RIGHT, y=19, width=HALF, height=3, fill="var(--apple)"),
        *_box(0, 24, WIDTH, "a @ b · torch.matmul · dispatcher", "var(--l-framework)"),
    ]
    layers = (
        ("cuBLAS", "MPSGraph", "var(--l-library)"),
        (_("CUDA runtime: a stream"), _("Metal: a command buffer"), "var(--l-platform)"),
        (_("NVIDIA driver"), _("driver in macOS"), "var(--l-driver)"),
        ("Linux, Windows", "macOS", "var(--l-os)"),
        (_("GPU with tensor cores"), _("GPU cores"), HARDWARE),
        (_("its own HBM or GDDR"), _("unified memory"), HARDWARE),
    )
    for row, (nvidia, apple, tint) in enumerate(layers, 1):
        y = 24 + row * ROW
        for x, words in ((0.0, nvidia), (RIGHT, apple)):
            marks += [
                Path(f"M{x + HALF / 2:.0f} {y - ROW + BOX:.0f}V{y:.0f}", stroke=LINE),
                *_box(x, y, HALF, words, tint),
            ]
    words = _(
        "The same call passes through the framework, a library, a runtime, a driver and the system to the GPU, on both."
    )
    return LearnPicture(Sketch(WIDTH, 24 + 7 * ROW, tuple(marks)), words)


def mac_units(_catalogue: PublicCatalogue) -> LearnPicture:
    """Four units above one memory; above each, what reaches it."""
    width, gap = 84.0, 8.0
    columns = (
        ("PyTorch cpu, Accelerate", _("processor with AMX or SME")),
        ("PyTorch mps, MLX, Metal", "GPU"),
        ("Core ML", "Neural Engine"),
        ("Video Toolbox", _("media engine")),
    )
    marks: list[Mark] = []
    for index, (software, unit) in enumerate(columns):
        x = index * (width + gap)
        middle = x + width / 2
        marks += [
            *_box(x, 8, width, software, PAPER, 46),
            Path(f"M{middle:.0f} 54V70", stroke=LINE),
            *_box(x, 70, width, unit, HARDWARE, 46),
            Path(f"M{middle:.0f} 116V132", stroke=LINE),
        ]
    marks += _box(0, 132, WIDTH, _("one memory for all"), HARDWARE)
    words = _(
        "PyTorch reaches the processor and the GPU, Core ML these and the Neural Engine, "
        "Video Toolbox the media engine."
    )
    return LearnPicture(Sketch(WIDTH, 170, tuple(marks)), words)


def parallel_kinds(_catalogue: PublicCatalogue) -> LearnPicture:
    """Four cards, four layers: which part of the model each holds, for three ways to divide it."""
    marks: list[Mark] = []
    top = 0.0
    for title, cells in (
        (_("data parallel: the whole model on each"), _cells(4, 4, lambda _card, _layer: True)),
        (_("pipeline: a layer on each"), _cells(4, 4, lambda card, layer: card == layer)),
    ):
        marks += [TextMark(x=0, y=top + 14, text=title, style=STRONG), *_cards(top + 22, cells)]
        top += 108
    marks.append(TextMark(x=0, y=top + 14, text=_("tensor parallel: a quarter of each layer"), style=STRONG))
    marks += _cards(top + 22, [[0.25] * 4 for _card in range(4)])
    words = _(
        "Data parallel: every card holds all layers. Pipeline: one layer each. Tensor parallel: a slice of every layer."
    )
    return LearnPicture(Sketch(WIDTH, top + 100, tuple(marks)), words)


def _cells(cards: int, layers: int, holds: Callable[[int, int], bool]) -> list[list[float]]:
    return [[1.0 if holds(card, layer) else 0.0 for layer in range(layers)] for card in range(cards)]


def _cards(top: float, cells: Sequence[Sequence[float]]) -> Iterator[Mark]:
    """`cells`: for each card, the share of each layer that it holds."""
    width = 82.0
    for card, layers in enumerate(cells):
        x = card * (width + 10)
        yield Rect(x=x, y=top, width=width, height=72, stroke=LINE, radius=3)
        for layer, share in enumerate(layers):
            y = top + 6 + layer * 16
            yield Rect(x=x + 6, y=y, width=width - 12, height=12, stroke=LINE, radius=1)
            if share:
                left = x + 6 + ((width - 12) * share * card if share < 1 else 0)
                yield Rect(x=left, y=y, width=(width - 12) * share, height=12, fill=INK_2, radius=1)


def slow_tree(_catalogue: PublicCatalogue) -> LearnPicture:
    """A question with two answers, and the causes under each."""
    marks: list[Mark] = [
        *_box(90, 4, 180, _("Is the GPU busy all the time?"), PAPER, 34),
        Path("M130 38L86 66", stroke=INK_2),
        Path("M230 38L274 66", stroke=INK_2),
        TextMark(x=92, y=56, text=_("no: it waits"), style=SMALL, fill=INK_2, anchor="end"),
        TextMark(x=268, y=56, text=_("yes"), style=SMALL, fill=INK_2),
    ]
    branches = (
        (0.0, (_("for data: storage, workers, decoding"), _("for Python: .item(), small kernels, fallback"),
               _("for other machines: NCCL, links"))),
        (RIGHT, (_("memory bounds it: fuse, fewer bits"), _("wrong data type: no tensor cores"),
                 _("limited: clocks, heat, power, slot"))),
    )  # fmt: skip
    for x, causes in branches:
        for row, words in enumerate(causes):
            y = 68 + row * 52
            marks += _box(x, y, HALF, words, PAPER, 42)
    words = _("If the GPU waits, look at data, Python and links; if it works, at memory, data types and clocks.")
    return LearnPicture(Sketch(WIDTH, 220, tuple(marks)), words)


def check_loop(_catalogue: PublicCatalogue) -> LearnPicture:
    """A loop: run, paste, read, run what it says."""
    steps = (
        _("run collect_env or nvidia-smi"),
        _("paste what it prints into Diagnose"),
        _("read the most likely cause"),
        _("run the one command it names"),
    )
    marks: list[Mark] = []
    for row, words in enumerate(steps):
        y = 4 + row * 46.0
        marks += _box(30, y, 240, words, PAPER)
        if row:
            marks.append(Path(f"M150 {y - 16:.0f}V{y:.0f}", stroke=INK_2))
    end, start = 4 + 3 * 46 + 15, 4 + 46 + 15
    marks.append(
        Path(
            f"M270 {end:.0f}H310V{start:.0f}H270M276 {start - 5:.0f}L270 {start:.0f}L276 {start + 5:.0f}", stroke=INK_2
        )
    )
    words = _("Run a tool, paste its output into Diagnose, read the cause, run the command it names, and paste again.")
    return LearnPicture(Sketch(WIDTH, 190, tuple(marks)), words)


DRAWINGS: Mapping[str, Callable[[PublicCatalogue], LearnPicture]] = {
    "one-call": one_call,
    "mac-units": mac_units,
    "parallel-kinds": parallel_kinds,
    "slow-tree": slow_tree,
    "check-loop": check_loop,
}
