"""The pages of releases: the answer in the first line, what needs it, addresses that lead to it, and their cost."""

import re

import pytest
from django.core.cache import cache

from stackviz.pages.stacks.release_answer import release_answer
from stackviz.pages.stacks.release_page import USES
from stackviz.records.stacks.models import Release, Requirement
from stackviz.records.stacks.release_lines import release_lines
from stackviz.records.stacks.rule_tables import rule_tables
from stackviz.report.rules.drivers import driver_floor
from tests.languages import chinese
from tests.sampled import sampled

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("stacks")]
TODAY = "2026-11-20"


def answer(slug: str, today: str = TODAY) -> str:
    return release_answer(rule_tables(), release_lines(rule_tables())[slug], today)


@pytest.mark.parametrize(
    ("slug", "said"),
    [
        ("cuda-12.8", "CUDA 12.8 needs the NVIDIA driver 525.60.13 or newer on Linux, 527.41 or newer on Windows."),
        ("cuda-12.8", "PyTorch has builds for it: 2.7 to 2.11."),
        ("cuda-12.8", "Next: CUDA 12.9; newest: CUDA 13."),
        ("cuda-13.0", "It has code for cards of compute capability 7.5 to 12.1."),
        ("torch-2.15", "PyTorch 2.15 needs Python 3.11 to 3.15. It has builds for CUDA 13.0, 13.2."),
        ("torch-2.15", "pip on Linux installs that of CUDA 13.2, for the driver 580.65.06 or newer."),
        ("torch-2.15", "On a Mac its GPU needs macOS 15.0 or newer."),
        ("driver-580", "NVIDIA driver 580 runs programs of CUDA 13 from 580.65.06 on."),
        ("driver-580", "It is the last branch for 5.0 to 7.0. It is supported until 2028-06."),
        ("driver-535", "Its support ended: 2026-06."),
        ("driver-570", "runs programs of CUDA 12 and older"),
        ("python-3.12", "Python 3.12 is supported until 2028-10-31. PyTorch has builds for it: 2.2 to 2.15."),
        ("ubuntu-24.04", "Ubuntu 24.04 is supported until 2029-05-31. Next: Ubuntu 24.10"),
        ("vllm-0.33", "PyTorch 2.14.0"),
        ("rocm-7.1", "PyTorch has builds for it: 2.10."),
        ("compute-capability-6.1", "Its last driver branch is 580. The last CUDA with code for it is 12."),
        ("metal-family-apple9", "M3 series"),
    ],
)  # fmt: skip
def test_a_release_answers_in_its_first_lines(slug, said):
    assert said in answer(slug)


def test_support_that_ends_soon_or_has_ended_is_said():
    assert "Its support ends soon: 2028-06." in answer("driver-580", "2028-01-31")
    assert "Its support ended: 2028-06." in answer("driver-580", "2028-07-01")


def test_the_driver_of_a_release_is_that_of_plans():
    row = Requirement.objects.get(
        release__component__slug="cuda-runtime", release__version="12", platform="linux", subject="nvidia-driver"
    )
    row.low = "526.1"
    row.save()
    assert driver_floor(rule_tables(), "12.8", "linux").low == "526.1"
    assert "the NVIDIA driver 526.1 or newer on Linux" in answer("cuda-12.8")


@sampled(25)
def test_every_release_has_a_page(client, sample):
    lines = release_lines(rule_tables())
    listed = client.get("/releases/").content.decode()
    assert not [line.url for line in lines.values() if f'href="{line.url}"' not in listed]
    assert not [line.slug for line in lines.values() if not answer(line.slug)]
    for line in map(lines.get, sample(lines)):
        page = client.get(line.url)
        assert page.status_code == 200
        text = page.content.decode()
        assert f"<h1>{line.name}</h1>" in text.replace("&#x27;", "'")
        assert text.index('class="lead"') < text.index("<table")


def test_every_relation_has_words():
    assert set(USES) == set(Requirement.Relation.values)


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("/releases/pytorch-2.14.1/", "/releases/torch-2.14/"), ("/releases/cuda-12.8.1/", "/releases/cuda-12.8/"),
        ("/releases/driver-580/", "/drivers/580/"), ("/drivers/580.65.06/", "/drivers/580/"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("localised", [str, chinese])
def test_other_addresses_of_a_release_lead_to_its_page(client, path, target, localised):
    response = client.get(localised(path))
    assert (response.status_code, response.headers["Location"]) == (301, localised(target))


@pytest.mark.parametrize(
    ("path", "nearest"),
    [
        ("/releases/cuda-12.7/", "/releases/cuda-12.8/"), ("/drivers/600/", "/drivers/595/"),
        ("/releases/nobody-1/", "/releases/"), ("/releases/%3Cscript%3E/", "/releases/"),
        ("/drivers/" + "9" * 4000 + "/", "/drivers/620/"),
    ],
)  # fmt: skip
def test_an_unknown_release_is_404_and_names_the_nearest(client, path, nearest):
    response = client.get(path)
    assert response.status_code == 404
    assert f'href="{nearest}"' in response.content.decode()
    assert "<script>" not in re.sub(r"<script[^>]+>", "", response.content.decode())


def test_a_page_links_what_needs_the_release_and_its_neighbours(client):
    text = client.get("/drivers/580/").content.decode()
    for target in ("/releases/cuda-13/", "/drivers/590/", "/drivers/575/", "/components/nvidia-driver/"):
        assert f'href="{target}"' in text
    assert 'href="/releases/cuda-12/"' in client.get("/releases/cuda-12.8/").content.decode()


def test_a_release_without_a_requirement_still_has_a_page(client):
    Release.objects.filter(component__slug="macos", version="27").get().requirements.all().delete()
    assert "macOS 27" in client.get("/releases/macos-27/").content.decode()


def test_a_page_costs_few_queries(client, django_assert_max_num_queries):
    client.get("/releases/torch-2.14/")
    with django_assert_max_num_queries(9):
        client.get("/releases/torch-2.15/")
    with django_assert_max_num_queries(4):
        client.get("/releases/torch-2.15/")
    cache.clear()


def test_a_page_is_in_chinese(client):
    text = client.get(chinese("/releases/cuda-12.8/")).content.decode()
    assert "CUDA 12.8 需要 NVIDIA 驱动：Linux 上 525.60.13 或更新版本" in text
    assert "What needs or supports it" not in text
