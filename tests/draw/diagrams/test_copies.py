"""Copies of rows with some fields changed."""

from dataclasses import replace

import pytest

from stackviz.draw.diagrams.boxes import Box, copy_with
from stackviz.draw.diagrams.layers import Layer, State

BOX = Box(component="cudnn", role="neural-network-kernels", layer=Layer.LIBRARY, name="cuDNN")


def test_a_copy_is_what_dataclasses_make():
    assert copy_with(BOX, version="9.13.0", state=State.FITS) == replace(BOX, version="9.13.0", state=State.FITS)
    assert BOX.version == ""


def test_a_field_that_there_is_not_is_refused():
    with pytest.raises(TypeError, match="Box has no colour"):
        copy_with(BOX, colour="red")
