"""The parameters of cited results: what each is called, and which are counts. Pure."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from stackviz.records.cited.benchmark import CitedBenchmark, Params, Words

MOST_PARAMETERS = 24
LONGEST_VALUE = 240
_PRINTED_OBJECT = re.compile(r"[\[{][\'\"(]")  # a list or dict as a program prints it


@dataclass(frozen=True, slots=True)
class Parameter:
    """`is_count`: a whole number, ordered and drawn as one."""

    title: Words
    is_count: bool = False


PARAMETERS: Mapping[str, Parameter] = {
    "accumulate": Parameter(_("accumulates in")),
    "accumulated_batch": Parameter(_("accumulated batch"), is_count=True),
    "accumulation": Parameter(_("gradient accumulation"), is_count=True),
    "act_order": Parameter(_("activation order")),
    "activation_checkpointing": Parameter(_("activation checkpointing")),
    "algorithm": Parameter(_("algorithm")),
    "array": Parameter(_("array")),
    "attention": Parameter(_("attention")),
    "autocast": Parameter(_("automatic casting")),
    "availability": Parameter(_("availability")),
    "backend": Parameter(_("backend")),
    "batch": Parameter(_("batch"), is_count=True),
    "beam": Parameter(_("beam width"), is_count=True),
    "block_run_kb": Parameter(_("kB per block"), is_count=True),
    "block_size": Parameter(_("threads per block"), is_count=True),
    "bound": Parameter(_("bound by")),
    "bytes": Parameter(_("bytes"), is_count=True),
    "compile": Parameter(_("compilation")),
    "compute_units": Parameter(_("compute units")),
    "concat_batches": Parameter(_("concatenated batches"), is_count=True),
    "concurrency": Parameter(_("concurrent requests"), is_count=True),
    "configuration": Parameter(_("configuration")),
    "context": Parameter(_("context"), is_count=True),
    "counted": Parameter(_("counted")),
    "cp": Parameter(_("context parallel"), is_count=True),
    "data_set_kb": Parameter(_("kB in total"), is_count=True),
    "dataset": Parameter(_("data set")),
    "depth": Parameter(_("tokens already in context"), is_count=True),
    "dimension": Parameter(_("dimensions"), is_count=True),
    "direction": Parameter(_("direction")),
    "dtype": Parameter(_("data type")),
    "engine": Parameter(_("engine")),
    "ep": Parameter(_("expert parallel")),
    "flags": Parameter(_("options")),
    "flash_attention": Parameter("FlashAttention"),
    "format": Parameter(_("number format")),
    "framework": Parameter(_("framework")),
    "fsdp": Parameter(_("fully sharded groups"), is_count=True),
    "global_batch": Parameter(_("global batch"), is_count=True),
    "group_size": Parameter(_("quantisation group"), is_count=True),
    "head_dim": Parameter(_("head size"), is_count=True),
    "heads": Parameter(_("heads"), is_count=True),
    "hyperparameters": Parameter(_("hyperparameters")),
    "implementation": Parameter(_("implementation")),
    "init": Parameter(_("inputs")),
    "input": Parameter(_("input size")),
    "input_length": Parameter(_("input length"), is_count=True),
    "input_tokens": Parameter(_("input tokens"), is_count=True),
    "instance": Parameter(_("instance")),
    "k": Parameter("k", is_count=True),
    "kernel": Parameter(_("kernel")),
    "kv": Parameter(_("KV cache")),
    "layout": Parameter(_("memory layout")),
    "level": Parameter(_("cache level")),
    "library": Parameter(_("library")),
    "link": Parameter(_("link between cards")),
    "loop_count": Parameter(_("loops"), is_count=True),
    "m": Parameter("m", is_count=True),
    "math": Parameter(_("arithmetic")),
    "max_sequences": Parameter(_("most sequences at once"), is_count=True),
    "measure": Parameter(_("figure")),
    "memory_length": Parameter(_("memory length")),
    "method": Parameter(_("method")),
    "metric": Parameter(_("metric")),
    "micro_batch": Parameter(_("micro batch"), is_count=True),
    "mode": Parameter(_("mode")),
    "model": Parameter(_("model")),
    "model_size": Parameter(_("model size")),
    "n": Parameter("n", is_count=True),
    "nodes": Parameter(_("nodes"), is_count=True),
    "op": Parameter(_("operator")),
    "output": Parameter(_("output type")),
    "output_tokens": Parameter(_("output tokens"), is_count=True),
    "parallel": Parameter(_("parallelism")),
    "parallelism": Parameter(_("parallelism")),
    "part": Parameter(_("part")),
    "per": Parameter(_("per")),
    "phase": Parameter(_("phase")),
    "power_limit_w": Parameter(_("power limit in W"), is_count=True),
    "powersave": Parameter(_("power saving")),
    "pp": Parameter(_("pipeline parallel"), is_count=True),
    "precision": Parameter(_("precision")),
    "quant": Parameter(_("quantisation")),
    "ranks": Parameter(_("ranks"), is_count=True),
    "recipe": Parameter(_("recipe")),
    "request_rate": Parameter(_("requests per second")),
    "run": Parameter(_("run")),
    "run_mode": Parameter(_("run mode")),
    "scenario": Parameter(_("scenario")),
    "schedule": Parameter(_("schedule")),
    "sequence": Parameter(_("sequence length"), is_count=True),
    "shape": Parameter(_("shape")),
    "sharding": Parameter(_("sharding")),
    "size": Parameter(_("size")),
    "slice": Parameter(_("slice")),
    "speculative": Parameter(_("speculative decoding")),
    "stage": Parameter(_("stage")),
    "statistic": Parameter(_("statistic")),
    "steps": Parameter(_("steps"), is_count=True),
    "submitter": Parameter(_("submitter")),
    "suite": Parameter(_("suite")),
    "system": Parameter(_("system")),
    "task": Parameter(_("task")),
    "techniques": Parameter(_("techniques")),
    "test": Parameter(_("test")),
    "threads": Parameter(_("CPU threads"), is_count=True),
    "tp": Parameter(_("tensor parallel"), is_count=True),
    "trans_a": Parameter(_("A transposed")),
    "trans_b": Parameter(_("B transposed")),
    "variant": Parameter(_("variant")),
    "version": Parameter(_("version")),
    "vp": Parameter(_("virtual pipeline"), is_count=True),
    "weights_bytes": Parameter(_("bytes of the weights"), is_count=True),
    "wn_channels": Parameter(_("WaveNet channels"), is_count=True),
    "xla": Parameter("XLA"),
}


class ParameterError(ValueError):
    """A text of parameters that cannot be read; the message names the parameter."""


def read_pairs(text: str) -> Iterator[tuple[str, str]]:
    """`name=value` pairs separated by `; `. Raises ParameterError for what is none, repeated or not sorted."""
    last = ""
    for pair in text.split("; ") if text else ():
        name, equals, value = pair.partition("=")
        if not equals or not name or not value:
            raise ParameterError(gettext("%(text)r is not name=value") % {"text": pair[:40]})
        if name <= last:
            raise ParameterError(
                gettext("%(name)r is repeated or out of order: names are sorted") % {"name": name[:40]}
            )
        if len(value) > LONGEST_VALUE:
            named = {"name": name[:40], "n": LONGEST_VALUE}
            raise ParameterError(gettext("the value of %(name)r is longer than %(n)d characters") % named)
        last = name
        yield name, value


def read_params(text: str, benchmark: CitedBenchmark) -> dict[str, str | int]:
    """The parameters of a result of this benchmark; counts as numbers. Raises ParameterError."""
    params: dict[str, str | int] = {}
    for name, value in read_pairs(text):
        if name not in benchmark.parameters:
            named = {"benchmark": benchmark.key, "name": name[:40]}
            raise ParameterError(gettext("%(benchmark)s has no parameter %(name)r") % named)
        if _PRINTED_OBJECT.match(value):
            named = {"name": name, "text": value[:40]}
            raise ParameterError(gettext("%(name)s must be words, not an object of a program: %(text)s") % named)
        params[name] = _number(name, value) if PARAMETERS[name].is_count else value
    if len(params) > MOST_PARAMETERS:
        raise ParameterError(gettext("more than %(n)d parameters") % {"n": MOST_PARAMETERS})
    return params


def _number(name: str, value: str) -> int:
    if not (value.isascii() and value.isdigit() and len(value) <= 15):
        raise ParameterError(
            gettext("%(name)s must be a whole number, not %(text)r") % {"name": name, "text": value[:40]}
        )
    return int(value)


def pairs_text(pairs: Params) -> str:
    """The text that `read_pairs` reads."""
    return "; ".join(f"{name}={pairs[name]}" for name in sorted(pairs))


def comparison_key(benchmark: CitedBenchmark, params: Params, si: str) -> str:
    """Digest of what must be equal for two results to be compared, the base unit included: 32 hexadecimal digits."""
    compared = benchmark.compared_params(params)
    text = json.dumps([si, compared], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
