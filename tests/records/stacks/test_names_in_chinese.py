"""Names of components, stacks and operators in plain words are Chinese on Chinese pages; English stays English, and found."""

import pytest
from django.utils import translation

from stackviz.records.stacks.component_names import names_of_components
from tests.languages import chinese

pytestmark = pytest.mark.usefixtures("curated", "db")


@pytest.mark.parametrize(
    ("path", "shown", "english"),
    [
        ("/stacks/", "Apple Metal（macOS）", "Apple Metal on macOS"),
        ("/stacks/apple-metal/", "统一内存", ">Unified memory<"),
        ("/stacks/nvidia-cuda/?format=svg", "张量核心", "Tensor cores"),
        ("/components/nvidia-driver/", "<title>NVIDIA 驱动", "<title>NVIDIA driver"),
        ("/operators/matmul/", "矩阵乘法", "Matrix product"),
        ("/search/?q=unified+memory", "统一内存", ">Unified memory<"),
    ],
)
def test_pages_drawings_and_search_name_it_in_chinese(client, path, shown, english):
    text = client.get(chinese(path)).content.decode()
    assert shown in text
    assert english not in text


def test_names_are_those_of_the_language_whichever_was_read_first():
    with translation.override("zh-hans"):
        assert names_of_components()["unified-memory"] == "统一内存"
    assert names_of_components()["unified-memory"] == "Unified memory"


def test_the_api_stays_english(client):
    text = client.get("/api/v1/stacks/apple-metal/", headers={"Accept-Language": "zh-CN"}).content.decode()
    assert "Unified memory" in text
    assert "统一内存" not in text
