"""Bytes that decoding reads for each generated token: the weights of a model in a number format. Pure."""

from stackviz.cited.benchmark import Params
from stackviz.measuring.llama_models import WEIGHTS_BYTES


def weights_bytes(params: Params) -> float | None:
    """None where these parameters generate no tokens, or the size of the model is not printed."""
    if not str(params.get("test", "")).startswith("tg"):
        return None
    return WEIGHTS_BYTES.get((str(params.get("model")), str(params.get("quant"))))
