"""Bytes that decoding reads for each generated token: the weights of a model in a number format. Pure."""

from stackviz.cited.benchmark import Params

# As llama-bench prints them, in GiB. They follow from 6.74 B parameters at 16 bits, at 8.5 (blocks of 32 with a 16-bit
# scale), and at 4.5 with the output matrix at 6.5625 (q6_k), which llama.cpp does for q4_0.
_WEIGHTS_BYTES = {
    ("Llama 2 7B", "F16"): 12.55 * 2**30,
    ("Llama 2 7B", "Q8_0"): 6.67 * 2**30,
    ("Llama 2 7B", "Q4_0"): 3.56 * 2**30,
}


def weights_bytes(params: Params) -> float | None:
    """None where these parameters generate no tokens, or the size of the model is not printed."""
    if not str(params.get("test", "")).startswith("tg"):
        return None
    return _WEIGHTS_BYTES.get((str(params.get("model")), str(params.get("quant"))))
