"""The benchmark `conv`: operations and bytes worked out by hand."""

import pytest

from stackviz.measuring.conv import CONV

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


@pytest.mark.parametrize("params", [{}, {"op": "block-256"}, {"op": "conv9x9-1", "batch": 1, "dtype": "bf16"}])
def test_parameters_that_say_nothing_give_no_bound(params):
    assert CONV.bounds_of(params) == ()
