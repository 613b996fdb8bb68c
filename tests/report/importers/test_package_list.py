"""Lists of packages: pip's, uv's and conda's, with their heads and without."""

import pytest

from stackviz.report.importers import read_all
from tests.report.importers.own_dump import OwnDump, reading_of

PIP = (
    "Package            Version\n------------------ ------------\nnumpy              1.26.4\n"
    "nvidia-cudnn-cu12  9.1.0.70\ntorch              2.6.0+cu124\ntorchvision        0.21.0+cpu\n"
)
FREEZE = "torch==2.6.0\ntorchvision @ file:///tmp/torchvision-0.21.0-cp311-cp311-linux_x86_64.whl\nxformers==0.0.29\n"
CONDA = (
    "# packages in environment at /opt/conda/envs/lab:\n#\n# Name          Version       Build  Channel\n"
    "_libgcc_mutex   0.1   conda_forge    conda-forge\npython    3.11.9    h955ad1f_0\n"
    "pytorch    2.5.1    py3.11_cuda12.4_cudnn9.1.0_0    pytorch\ntorchvision   0.20.1    pypi_0    pypi\n"
)
UV = "Resolved 2 packages in 3ms\n - torch==2.5.1\n + torch==2.6.0+cu124\n + torchvision==0.21.0+cu124\n"
SHOW = "Name: torch\nVersion: 2.6.0\nSummary: Tensors\nLocation: /opt/site-packages\nRequires: filelock\n"
INSTALLED = "Successfully installed torch-2.6.0+cu124 nvidia-cudnn-cu12-9.1.0.70 triton-3.2.0\n"
OWN_DUMPS = (
    OwnDump(kind="package-list", text=PIP, facts={"torch.version": "2.6.0+cu124", "torch.cuda_version": "12.4"}),
)


@pytest.mark.parametrize(
    ("text", "versions"),
    [
        (PIP, {"pytorch": "2.6.0+cu124", "torchvision": "0.21.0+cpu", "cudnn": "9.1.0.70", "numpy": "1.26.4"}),
        (FREEZE, {"pytorch": "2.6.0", "torchvision": "0.21.0", "xformers": "0.0.29"}),
        (CONDA, {"pytorch": "2.5.1", "torchvision": "0.20.1", "python": "3.11.9"}),
        (UV, {"pytorch": "2.6.0+cu124", "torchvision": "0.21.0+cu124"}),
        (SHOW, {"pytorch": "2.6.0"}),
        (INSTALLED, {"pytorch": "2.6.0+cu124", "cudnn": "9.1.0.70", "triton": "3.2.0"}),
        ("[pip3] torch==2.6.0\n[conda] numpy 1.26.4 pypi_0 pypi\n", {"pytorch": "2.6.0", "numpy": "1.26.4"}),
        ("torch                    2.6.0+cpu\ntorchaudio               2.6.0+cpu\n", {"pytorch": "2.6.0+cpu"}),
    ],
    ids=["pip", "freeze", "conda", "uv", "show", "install", "marked", "no-head"],
)
def test_each_list_is_read(text, versions):
    reading = reading_of(text)
    assert reading.kind == "package-list"
    found = {software.component: software.version for software in reading.software}
    assert {name: found.get(name) for name in versions} == versions
    assert reading.facts["torch.version"] == versions["pytorch"]


def test_conda_says_what_its_build_is_for_and_who_listed_what():
    reading = reading_of(CONDA)
    assert reading.facts["torch.cuda_version"] == "12.4"
    assert {software.component: software.found_by for software in reading.software} == {
        "python": "packages of conda",
        "pytorch": "packages of conda",
        "torchvision": "packages of pip",
    }
    assert (
        reading_of(CONDA.replace("cuda12.4_cudnn9.1.0", "cpu")).absent["torch.cuda_version"].reason == "not_applicable"
    )
    assert reading_of(CONDA.replace("py3.11_cuda12.4", "cuda126_py311")).facts["torch.cuda_version"] == "12.6"


@pytest.mark.parametrize(
    "text", ["I have torch 2.6 and python 3.11\nRTX 3090 24\n", "epoch 1 0.5\nloss 0.3\n", "a==1\n"]
)
def test_prose_and_foreign_lists_are_none(text):
    assert read_all(text).kinds == ()
