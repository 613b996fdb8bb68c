"""A pass of a language model in plain Python, to hold those by torch and MLX against; and how to get at theirs.

A program that is run by a Python with torch or MLX prints what a pass was made of, as JSON: `matrices`, the weights as
the product has them (of all layers, which are alike), `head`, `x`, `caches` of each layer, `last`, `logits`.
"""

import json
import math
from operator import mul

from stackviz.report.measuring import Params
from stackviz.report.measuring.language_model import Geometry

__all__ = ["TINY", "check_pass", "program_by_mlx", "program_by_torch"]

TINY = Geometry(width=128, inner=192, layers=2, heads=4, kv_heads=2, head_width=64, vocabulary=256)

_CELLS = "cells = lambda f: {n: c.cell_contents for n, c in zip(f.__code__.co_freevars, f.__closure__)}\n"
_MAKE = (
    "import json\n"
    "from stackviz.report.measuring import RUNNABLE\n"
    "from stackviz.report.measuring.language_model import MODELS, Geometry\n"
    f"MODELS['tiny'] = {TINY!r}\n" + _CELLS
)  # fmt: skip

_BY_TORCH = (
    "import torch\n" + _MAKE + "prepared = RUNNABLE[{key!r}].prepare(torch, 'cpu', {params!r})\n"
    "prepared.run(); prepared.run()\n"
    "made, plain = cells(prepared.run), lambda a: a.float().tolist()\n"
    "weights, attend = made['weights'], cells(made['attend'])\n"
    "def matrix(stored, columns):\n"
    "    return plain(weights.stored_as.linear(torch.eye(columns, dtype=made['x'].dtype), stored).T)\n"
    "print(json.dumps(dict(\n"
    "    matrices=[matrix(each, c) for each, (_, c) in zip(weights.layers[-1], MODELS['tiny'].matrices)],\n"
    "    head=matrix(weights.head, MODELS['tiny'].width), x=plain(made['x']),\n"
    "    caches=[plain(each) for each in attend['cache']],\n"
    "    last=plain(made['newest'][0]), logits=plain(made['newest'][1]), check=prepared.check())))\n"
)
_BY_MLX = (
    "import mlx.core as mx\nfrom stackviz.report.measuring.in_mlx import in_mlx\n"
    + _MAKE
    + "prepared = in_mlx(RUNNABLE[{key!r}]).prepare(mx, {params!r})\n"
    "prepared.run(); prepared.run()\n"
    "made, plain = cells(cells(prepared.run)['compute']), lambda a: a.astype(mx.float32).tolist()\n"
    "def matrix(stored, columns):\n"
    "    return plain(made['matrices'].linear(mx.eye(columns, dtype=made['x'].dtype), stored).T)\n"
    "(last, logits), length = cells(prepared.check)['newest'][0], {params!r}.get('context') or {params!r}['prompt']\n"
    "print(json.dumps(dict(\n"
    "    matrices=[matrix(each, c) for each, (_, c) in zip(made['layers'][-1], MODELS['tiny'].matrices)],\n"
    "    head=matrix(made['head'], MODELS['tiny'].width), x=plain(made['x']),\n"
    "    caches=[[plain(each[:, :, :length]) for each in of_layer] for of_layer in cells(made['attend'])['caches']],\n"
    "    last=plain(last), logits=plain(logits), check=prepared.check())))\n"
)


def program_by_torch(key: str, params: Params) -> str:
    return _filled(_BY_TORCH, key, params)


def program_by_mlx(key: str, params: Params) -> str:
    return _filled(_BY_MLX, key, params)


def _filled(program: str, key: str, params: Params) -> str:
    return program.replace("{key!r}", repr(key)).replace("{params!r}", repr(params))


def check_pass(printed: str, key: str) -> None:
    """Holds what a program printed against the same pass in plain Python, within what 16 bits lose."""
    told = json.loads(printed)
    assert told["check"] is None
    last, logits = pass_in_python(told, causal=key == "llm-prefill")
    assert far_off(told["last"], last) < 0.05
    assert far_off(told["logits"], logits) < 0.05


def pass_in_python(told: dict, *, causal: bool) -> tuple[list[list[float]], list[list[float]]]:
    """(last, logits) of each sequence: what the output matrix gets, and what it makes of it.

    `causal`: a token sees itself and those before it; else all of the cache, at the end of which the new ones are.
    """
    lasts = []
    for sequence, tokens in enumerate(told["x"]):
        now = tokens
        for layer in range(TINY.layers):
            cached = [[head[:] for head in part[sequence]] for part in told["caches"][layer]]
            now = _layer(now, told["matrices"], cached, causal)
        lasts.append(_norm(now[-1]))
    return lasts, [_linear(last, told["head"]) for last in lasts]


def far_off(computed: list[list[float]], expected: list[list[float]]) -> float:
    """The largest difference, as a part of the largest number expected."""
    pairs = [pair for rows in zip(computed, expected, strict=True) for pair in zip(*rows, strict=True)]
    return max(abs(left - right) for left, right in pairs) / max(abs(right) for _, right in pairs)


def _layer(tokens, matrices, cached, causal):
    qkv, out, gate_up, down = matrices
    width, group = TINY.head_width, TINY.heads // TINY.kv_heads
    made = [_linear(_norm(token), qkv) for token in tokens]
    heads = [[row[at : at + width] for at in range(0, len(row), width)] for row in made]
    (all_keys, all_values), length = cached, len(cached[0][0])
    for position, row in enumerate(heads):
        for number in range(TINY.kv_heads):
            at = length - len(tokens) + position
            all_keys[number][at] = row[TINY.heads + number]
            all_values[number][at] = row[TINY.heads + TINY.kv_heads + number]
    mixed = []
    for position, row in enumerate(heads):
        seen = length - len(tokens) + position + 1 if causal else length
        mixed.append([])
        for number in range(TINY.heads):
            keys, values = all_keys[number // group][:seen], all_values[number // group][:seen]
            mixed[-1] += _attend(row[number], keys, values)
    tokens = [_sum(token, _linear(mix, out)) for token, mix in zip(tokens, mixed, strict=True)]
    return [_sum(token, _linear(_gated(_linear(_norm(token), gate_up)), down)) for token in tokens]


def _linear(x, matrix):
    return [sum(map(mul, x, row)) for row in matrix]


def _norm(x):
    size = math.sqrt(sum(map(mul, x, x)) / len(x))
    return [number / size for number in x]


def _sum(a, b):
    return [left + right for left, right in zip(a, b, strict=True)]


def _gated(gate_and_up):
    half = len(gate_and_up) // 2
    return [gate / (1 + math.exp(-gate)) * up for gate, up in zip(gate_and_up[:half], gate_and_up[half:], strict=True)]


def _attend(query, keys, values):
    scores = [sum(map(mul, query, key)) / math.sqrt(len(query)) for key in keys]
    largest = max(scores)
    weights = [math.exp(score - largest) for score in scores]
    whole = sum(weights)
    return [sum(map(mul, weights, column)) / whole for column in zip(*values, strict=True)]
