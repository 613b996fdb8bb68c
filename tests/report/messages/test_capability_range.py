"""What torch says of a card outside the range it was built for: fatal for most, harmless for capability 12.1."""

from stackviz.report.dumps import answer, machines
from stackviz.report.importers import read_all
from stackviz.report.rules import packaged_tables

VLLM = """\
(APIServer pid=7) /opt/venv/lib/python3.12/site-packages/torch/cuda/__init__.py:435: UserWarning:
(APIServer pid=7)     Found GPU0 NVIDIA GB10 which is of cuda capability 12.1.
(APIServer pid=7)     Minimum and Maximum cuda capability supported by this version of PyTorch is
(APIServer pid=7)     (8.0) - (12.0)
(APIServer pid=7)   queued_call()
"""
RANGE = """\
UserWarning:
    Found GPU0 Tesla P100-PCIE-12GB which is of cuda capability 6.0.
    Minimum and Maximum cuda capability supported by this version of PyTorch is
    (7.0) - (12.0)
"""
TOO_OLD = """\
UserWarning:
    Found GPU0 NVIDIA Quadro K620 which is of cuda capability 5.0.
    PyTorch no longer supports this GPU because it is too old.
    The minimum cuda capability supported by this library is 7.5.
"""
CAPABILITIES = """\
(Worker pid=369) /usr/local/lib/python3.12/dist-packages/torch/cuda/__init__.py:371: UserWarning: \
Found GPU1 Tesla V100-SXM2-32GB which is of compute capability (CC) 7.0.
(Worker pid=369) The following list shows the CCs this version of PyTorch was built for and the hardware CCs it supports:
(Worker pid=369) - 7.5 which supports hardware CC >=7.5,<8.0
(Worker pid=369) - 8.0 which supports hardware CC >=8.0,<9.0 except {8.7}
(Worker pid=369) Please follow the instructions at https://pytorch.org/get-started/locally/ to install a PyTorch \
release that supports one of these CUDA versions: 12.6, 12.8
"""
LIST = """
NVIDIA Quadro K620 with CUDA capability sm_50 is not compatible with the current PyTorch installation.
The current PyTorch install supports CUDA capabilities sm_75 sm_80 sm_86 sm_90 sm_100 sm_120 compute_120.
"""


def said(text):
    paste = read_all(text)
    return answer(machines(paste), packaged_tables(), not_understood=paste.not_understood)


def test_a_gb10_that_torch_warns_of_is_well():
    result = said(VLLM)
    [finding] = [finding for finding in result["findings"] if finding["severity"] != "cannot-tell"]
    assert (finding["severity"], finding["rule"]) == ("note", "error-message")
    assert "harmless" in finding["explanation"]
    assert [card["reported_name"] for card in result["cards"]] == ["NVIDIA GB10"]


def test_a_card_below_the_range_has_no_code():
    cards = ((RANGE, "Tesla P100-PCIE-12GB"), (TOO_OLD, "NVIDIA Quadro K620"), (CAPABILITIES, "Tesla V100-SXM2-32GB"))
    for text, card in cards:
        result = said(text)
        assert ("broken", "error-message") in {(found["severity"], found["rule"]) for found in result["findings"]}
        assert [found["reported_name"] for found in result["cards"]] == [card]


def test_a_list_behind_the_warning_makes_it_one_finding():
    broken = [found["rule"] for found in said(TOO_OLD + LIST)["findings"] if found["severity"] == "broken"]
    assert broken == ["kernels-missing"]


def test_an_image_that_the_driver_cannot_load_is_named():
    text = "ggml-cuda.cu:97: CUDA error\nCUDA error: device kernel image is invalid\n  current device: 0\n"
    assert "error 200" in said(text)["findings"][0]["explanation"]
