"""The benchmark `conv`: operations and bytes worked out by hand."""

import pytest

from stackviz.report.measuring.conv import CONV

BLOCK = {"op": "block-256", "dtype": "bf16", "batch": 8}


def test_a_convolution_takes_two_operations_for_each_weight_and_pixel():
    assert CONV.operations({"op": "conv3x3-256", "batch": 1}) == 2 * 14 * 14 * 3 * 3 * 256 * 256 == 231_211_008
    assert CONV.operations({"op": "conv7x7-64", "batch": 1}) == 2 * 112 * 112 * 7 * 7 * 3 * 64


def test_a_block_is_its_three_convolutions():
    of_1x1 = 2 * 14 * 14 * 1024 * 256
    assert CONV.operations(BLOCK) == 8 * (of_1x1 + 231_211_008 + of_1x1) == 3_493_855_232
    weights = 1024 * 256 + 9 * 256 * 256 + 256 * 1024
    assert CONV.bytes_moved(BLOCK) == 2 * (8 * 2 * 1024 * 14 * 14 + weights)


def test_the_image_of_the_first_layer_is_read_whole():
    images = 3 * 224 * 224 + 64 * 112 * 112
    assert CONV.bytes_moved({"op": "conv7x7-64", "dtype": "fp32", "batch": 1}) == 4 * (images + 49 * 3 * 64)


def test_the_network_is_that_of_the_paper():
    """torchvision's `resnet50` has 25,557,032 parameters and 4.09 GMAC: without its batch norms and biases these."""
    one = {"op": "resnet-50", "dtype": "fp32", "batch": 1}
    weights = 25_557_032 - 2 * 26_560 - 1000
    assert CONV.bytes_moved(one) == 4 * (3 * 224 * 224 + 1000 + weights)
    assert CONV.operations(one) == 8_178_368_512
    assert CONV.operations({**one, "batch": 8}) == 8 * 8_178_368_512


def test_a_processor_takes_one_image_through_the_network_in_a_standard_suite():
    standard = [
        params for params in CONV.cases("cpu", False) if params["op"] == "resnet-50" and not CONV.is_long("cpu", params)
    ]
    assert standard == [{"op": "resnet-50", "dtype": "fp32", "batch": 1}]
    assert not any(CONV.is_long("cuda", params) for params in CONV.cases("cuda", False))


@pytest.mark.parametrize("params", [{}, {"op": "block-256"}, {"op": "conv9x9-1", "batch": 1, "dtype": "bf16"}])
def test_parameters_that_say_nothing_give_no_bound(params):
    assert CONV.bounds_of(params) == ()
