"""A model that an address describes with numbers: `?model=custom&layers=32&hidden=4096&heads=32&...`. No database."""

from dataclasses import replace

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from stackviz.pages.fit.language_models import LanguageModel, language_models
from stackviz.pages.fit.numbers import WholeRange, read_count
from stackviz.pages.fit.shapes import ModelShape
from stackviz.web.address import AddressReader

CUSTOM, FALLBACK = "custom", "llama-3.1-8b"
MOST_PARAMETERS = 10**13  # ten times the largest open model
AGREEING = 0.05  # how far a typed number of parameters may lie from what the shape comes to
NUMBERS = {
    "layers": WholeRange(1, 1_000, 32),
    "hidden": WholeRange(16, 131_072, 4096),
    "heads": WholeRange(1, 1_024, 32),
    "kv_heads": WholeRange(1, 1_024, 8),
    "head_size": WholeRange(1, 1_024, 128),
    "intermediate": WholeRange(16, 1_048_576, 14_336),
    "vocabulary": WholeRange(16, 4_194_304, 128_256),
    "experts": WholeRange(0, 4_096, 0),
    "experts_per_token": WholeRange(1, 4_096, 1),
    "window": WholeRange(0, 10_000_000, 0),
    "window_layers": WholeRange(0, 1_000, 0),
}
CUSTOM_PARAMETERS = (*NUMBERS, "parameters", "tied")


def read_custom_model(reader: AddressReader) -> LanguageModel:
    """The model; a note for each number that cannot be used, and for numbers that contradict each other."""
    numbers = {name: allowed.read(reader, name) for name, allowed in NUMBERS.items()}
    is_tied = reader.choice("tied", ("yes", "no"), gettext_lazy("answer"), "no") == "yes"
    _check(reader, numbers)
    experts = numbers["experts"]
    shape = ModelShape(
        layers=numbers["layers"],
        hidden=numbers["hidden"],
        heads=numbers["heads"],
        kv_heads=min(numbers["kv_heads"], numbers["heads"]),
        head_size=numbers["head_size"],
        intermediate=numbers["intermediate"],
        vocabulary=numbers["vocabulary"],
        is_tied=is_tied,
        experts=experts,
        experts_per_token=min(numbers["experts_per_token"], experts),
        expert_intermediate=numbers["intermediate"] if experts else 0,
        window=numbers["window"],
        window_layers=min(numbers["window_layers"], numbers["layers"]) if numbers["window"] else 0,
    )
    shape = _with_parameters(reader, shape)
    return LanguageModel(
        slug=CUSTOM,
        name=_("Your model"),
        shape=shape,
        parameters=shape.parameters,
        active_parameters=shape.active_parameters if experts else 0,
        context=0,
        names=(),
        source_title="",
        source_url="",
        count_title="",
        count_url="",
        note="",
    )


def _check(reader: AddressReader, numbers: dict[str, int]) -> None:
    if numbers["heads"] % numbers["kv_heads"]:
        reader.note("kv_heads", _("The heads must be a multiple of the KV heads"))
    if numbers["experts"] and numbers["experts_per_token"] > numbers["experts"]:
        reader.note("experts_per_token", _("A token cannot use more experts than there are"))
    if numbers["window_layers"] > numbers["layers"]:
        reader.note("window_layers", _("There cannot be more layers with a window than layers"))


def _with_parameters(reader: AddressReader, shape: ModelShape) -> ModelShape:
    """The shape; its MLP made as wide as a typed number of parameters asks for, where no width is given."""
    wanted = reader.parsed("parameters", read_count, gettext_lazy("“%(value)s” is not a number such as 8B or 8.03e9"))
    if wanted is not None and not 0 < wanted <= MOST_PARAMETERS:
        problem = _("A model has between 1 and %(most)s parameters") % {"most": "10,000,000,000,000"}
        reader.note("parameters", problem)
        wanted = None
    if wanted is not None and not reader.parameters.get("intermediate", "").strip():
        shape = _widened(shape, wanted)
    if wanted is not None and abs(shape.parameters / wanted - 1) > AGREEING:
        problem = _("The other numbers come to %(count)s parameters") % {"count": f"{shape.parameters:,}"}
        reader.note("parameters", problem)
    if shape.parameters > MOST_PARAMETERS:
        reader.note("parameters", _("The numbers come to %(count)s parameters") % {"count": f"{shape.parameters:,}"})
        return language_models()[FALLBACK].shape
    return shape


def _widened(shape: ModelShape, wanted: float) -> ModelShape:
    """The shape with the width of the MLP that brings it to `wanted` parameters."""
    tensors = shape.tensors
    rest = shape.parameters - tensors["down"] - tensors["mlp"] - tensors["expert"]
    matrices = 3 * shape.hidden * shape.layers * max(shape.experts, 1)
    width = max(1, round((wanted - rest) / matrices))
    return replace(shape, intermediate=width, expert_intermediate=width if shape.experts else 0)
