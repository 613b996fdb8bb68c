"""Whose cards a benchmark ran on, where no dump names them: its back end tells."""

from stackviz.importers import Reading

__all__ = ["vendors_of"]

_VENDORS = {
    "metal": "apple",
    "mtl": "apple",
    "cuda": "nvidia",
    "rocm": "amd",
    "hip": "amd",
    "cann": "huawei",
    "sycl": "intel",
}
"""Back ends of llama.cpp that run on cards of one maker; Vulkan and OpenCL run on everybody's."""


def vendors_of(reading: Reading) -> tuple[str, ...]:
    """The makers of the cards, each once; of the back ends where no card is listed."""
    if reading.cards:
        return tuple(dict.fromkeys(card.vendor for card in reading.cards))
    named = (str(result.params.get("backend") or "") for result in reading.results)
    words = (name.strip().casefold() for backend in named for name in backend.split(","))
    return tuple(dict.fromkeys(_VENDORS[name] for name in words if name in _VENDORS))
