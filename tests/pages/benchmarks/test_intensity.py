"""Operations per byte, each written out by hand."""

import pytest

from stackviz.pages.benchmarks.intensity import (
    ATTENTION,
    BYTES,
    DECODE,
    GEMM,
    PREFILL,
    STREAM,
    operation_of,
    product_intensity,
)


def test_products_count_each_matrix_once():
    assert product_intensity(8192, 8192, 8192, 2) == pytest.approx(8192 / 3)
    assert product_intensity(3072, 3072, 3072, 4) == pytest.approx(512)
    found = operation_of("gemm", {"dtype": "bf16", "size": "best", "shape": "2048x2048x13312"}, 794.5e12)
    assert found.operator == GEMM
    # 2 * 2048 * 2048 * 13312 = 111,669,149,696 FLOP; (2048*13312*2 + 2048*2048) * 2 = 117,440,512 B.
    assert found.intensity == pytest.approx(950.857, rel=1e-5)
    assert found.rate == 794.5e12


def test_timed_products_read_shared_matrices_once():
    params = {"op": "MatMul", "framework": "MLX", "shape": "dim=1000000x64 dim=64x1024"}
    found = operation_of("operator-time", params, 0.01579)
    # 2 * 1e6 * 64 * 1024 = 1.31072e11 FLOP; (64e6 + 65,536 + 1,024e6) * 4 = 4,352,262,144 B.
    assert found.intensity == pytest.approx(30.1158, rel=1e-5)
    assert found.rate == pytest.approx(8.30095e12, rel=1e-5)
    assert found.dtype == "fp32"
    found = operation_of("operator-time", {"op": "MatMul", "shape": "dim=1000x64x256 dim=256x32"}, 1.0)
    # (1000*64*256 + 256*32 + 1000*64*32) * 4 = 73,760,768 B; 2 * 1000 * 64 * 32 * 256 = 1.048576e9 FLOP.
    assert found.intensity == pytest.approx(1.048576e9 / 73_760_768)


def test_decode_reads_all_weights_for_a_token():
    params = {"model": "Llama 2 7B", "quant": "Q4_0", "test": "tg128"}
    found = operation_of("llama-bench", params, 66.31)
    assert found.operator == DECODE
    # 2 * 6.74e9 FLOP; 3.56 GiB = 3,822,520,893 B.
    assert found.intensity == pytest.approx(3.52647, rel=1e-5)
    assert found.rate == pytest.approx(8.93859e11, rel=1e-5)


def test_prefill_reads_the_weights_once_for_512_tokens():
    params = {"model": "Llama 2 7B", "quant": "F16", "test": "pp512"}
    found = operation_of("llama-bench", params, 779.17)
    assert found.operator == PREFILL
    assert found.intensity == pytest.approx(2 * 6.74e9 * 512 / (12.55 * 2**30))
    long = operation_of("llama-bench", {**params, "test": "pp4096"}, 779.17)
    assert long.intensity == found.intensity
    assert operation_of("llama-bench", {**params, "test": "pp64"}, 779.17).intensity == pytest.approx(
        64 * 1.00034, 1e-4
    )


def test_attention_triads_and_copies_have_their_place():
    found = operation_of("attention", {"sequence": 8192, "head_dim": 128, "kernel": "Flash Attention 2.0"}, 327.9e12)
    assert (found.operator, found.intensity) == (ATTENTION, 4096)
    found = operation_of("babelstream", {"kernel": "triad"}, 2.97e12)
    assert found.operator == STREAM
    assert found.intensity == pytest.approx(1 / 12)
    assert found.rate == pytest.approx(2.475e11)
    found = operation_of("babelstream", {"kernel": "copy"}, 2.9e12)
    assert (found.operator, found.intensity, found.rate) == (BYTES, 0.1, 2.9e12)
    assert found.height == pytest.approx(2.9e11)
    assert operation_of("babelstream", {"kernel": "copy"}, 0.0) is None


@pytest.mark.parametrize(
    ("benchmark", "params"),
    [
        ("gemm", {"dtype": "bf16", "size": "best"}),
        ("gemm", {"dtype": "bf16", "shape": "0x1x2"}),
        ("gemm", {"dtype": "bf16", "shape": "9999999999x1x2"}),
        ("gemm", {"dtype": "posit8", "m": 1, "n": 1, "k": 1}),
        ("operator-time", {"op": "Softmax", "shape": "dim=64x1000000"}),
        ("operator-time", {"op": "MatMul", "shape": "average of all shapes"}),
        ("operator-time", {"op": "MatMul", "shape": "dim=2x3 dim=4x5"}),
        ("attention", {"sequence": 8192, "direction": "backward"}),
        ("llama-bench", {"model": "Llama 3 8B", "quant": "Q4_K_M", "test": "tg128"}),
        ("llama-bench", {"model": "Llama 2 7B", "quant": "Q4_0", "test": "pp512+tg128"}),
        ("babelstream", {"kernel": "nstream"}),
        ("train-throughput", {}),
    ],
)
def test_what_parameters_do_not_tell_has_no_place(benchmark, params):
    assert operation_of(benchmark, params, 1.0) is None
