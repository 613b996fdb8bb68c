"""The diagram in sentences: they make sense read aloud, and leave nothing out that is drawn."""

from stackviz.draw.diagrams.boxes import Box, RequirementLink, StackColumn
from stackviz.draw.diagrams.layers import Layer, State
from stackviz.draw.diagrams.stack import draw_columns

CUDNN = Box(component="cudnn", role="kernels", layer=Layer.LIBRARY, name="cuDNN", version="9.26", state=State.BROKEN)
NCCL = Box(component="nccl", role="collectives", layer=Layer.LIBRARY, name="NCCL")
DRIVER = Box(
    component="nvidia-driver",
    role="device-driver",
    layer=Layer.DRIVER,
    name="NVIDIA driver",
    version="535.183",
    state=State.REPORTED,
)
MPSGRAPH = Box(component="mpsgraph", role="kernels", layer=Layer.LIBRARY, name="MPSGraph")
UNFILLED = Box(component="", role=NCCL.role, layer=Layer.LIBRARY, name="", state=State.ABSENT, summary="None yet.")
TOO_OLD = RequirementLink("cudnn", "nvidia-driver", State.BROKEN, "cuDNN 9.26 needs driver 580: has 535.183")
BOX = StackColumn(key="m", title="box", subtitle="", url="/m/", boxes=(CUDNN, NCCL, DRIVER), links=(TOO_OLD,))
APPLE = StackColumn(key="a", title="Apple Metal on macOS", subtitle="", url="/a/", boxes=(MPSGRAPH, UNFILLED))


def sentences(*columns: StackColumn) -> dict[str, tuple[str, ...]]:
    return {part.layer: part.sentences for part in draw_columns(columns).layer_sentences}


def test_each_layer_and_column_has_a_sentence():
    libraries = sentences(BOX, APPLE)["Libraries"]
    assert libraries[0] == "box: cuDNN 9.26 (broken); NCCL."
    assert libraries[-1] == "Apple Metal on macOS: MPSGraph; collectives: none."


def test_what_breaks_is_a_sentence_of_its_own():
    assert "broken: cuDNN 9.26 needs driver 580: has 535.183." in sentences(BOX)["Libraries"]


def test_one_column_needs_no_name():
    assert sentences(BOX)["Driver"] == ("NVIDIA driver 535.183.",)


def test_what_is_only_described_is_said_of_its_box():
    asks = RequirementLink("cudnn", "nvidia-driver", State.DESCRIBED, "needs NVIDIA driver ≥ 580")
    described = StackColumn(
        key="s",
        title="S",
        subtitle="",
        url="/s/",
        boxes=(Box(component="cudnn", role="kernels", layer=Layer.LIBRARY, name="cuDNN"), DRIVER),
        links=(asks,),
    )
    assert "cuDNN needs NVIDIA driver ≥ 580." in sentences(described)["Libraries"]


def test_an_empty_layer_says_so():
    assert sentences(BOX)["Compiler"] == ("not described.",)


def test_no_word_is_said_twice_where_a_finding_begins_with_it():
    cannot = RequirementLink("cudnn", "nvidia-driver", State.UNKNOWN, "Cannot tell whether the driver is new enough")
    column = StackColumn(key="m", title="m", subtitle="", url="/m/", boxes=(CUDNN, DRIVER), links=(cannot,))
    assert "Cannot tell whether the driver is new enough." in sentences(column)["Libraries"]
