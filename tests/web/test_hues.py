"""The check of hues finds what it looks for."""

import pytest

from tests.web.hues import hue_faults_of

VENDORS = {"nvidia-h100": "nvidia", "apple-m3": "apple", "hailo-8": "hailo"}
RIGHT = (
    '<tr class="v-nvidia"><th><a href="/accelerators/nvidia-h100/">H100</a></th></tr>',
    '<a href="/accelerators/apple-m3/"><svg><use class="v-apple v-b"/></svg></a>',
    '<li><a href="/zh-hans/accelerators/hailo-8/">Hailo-8</a><i class="v-other"></i></li>',
    '<div style="--c1:var(--nvidia);--c2:var(--apple)">two columns</div>',
)
WRONG = (
    '<tr class="v-apple"><th><a href="/accelerators/nvidia-h100/">H100</a></th></tr>',
    '<li><a href="/accelerators/hailo-8/">Hailo-8</a><i class="v-amd"></i></li>',
    '<button class="v-nvidia">Compare</button>',
    '<rect fill="#0b9e71"/>',
    '<p style="color:var(--apple)">a note</p>',
)


@pytest.mark.parametrize("page", RIGHT)
def test_a_vendors_thing_in_its_hue_is_right(page):
    assert hue_faults_of(page, VENDORS) == []


@pytest.mark.parametrize("page", WRONG)
def test_any_other_hue_is_a_fault(page):
    assert len(hue_faults_of(page, VENDORS)) == 1
