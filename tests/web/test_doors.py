"""The two lines of navigation: every page of visitors is behind one door, and each page is reached once."""

import re

import pytest

from stackviz.web.doors import DOORS, FOOT, door_of, links_of_pages


@pytest.mark.parametrize(
    ("path", "title"),
    [
        ("/accelerators/", "Hardware"),
        ("/accelerators/nvidia-t4/", "Hardware"),
        ("/ladder/", "Hardware"),
        ("/components/cudnn/", "Software"),
        ("/drivers/580/", "Software"),
        ("/operators/matmul/", "Software"),
        ("/heatmap/", "Benchmarks"),
        ("/benchmarks/gemm/", "Benchmarks"),
        ("/causes/no-kernel-image/", "Tools"),
        ("/plan/", "Tools"),
        ("/hosts/some-host/", "Machines"),
        ("/machines/north/dgx-07/", "Machines"),
        ("/glossary/", "Learn"),
        ("/claims/", "Learn"),
        ("/zh-hans/", None),
        ("/", None),
        ("/search/", None),
    ],
)
def test_a_page_is_behind_one_door(path, title):
    door = door_of(path)
    assert (str(DOORS[door].title) if door is not None else None) == title


def test_each_page_is_reached_once():
    pages = [name for door in DOORS for _title, name in door.pages] + [name for _title, name in FOOT]
    assert len(pages) == len(set(pages))
    assert len(links_of_pages([page for door in DOORS for page in door.pages], "/")) == sum(len(d.pages) for d in DOORS)


@pytest.mark.django_db
def test_the_current_door_and_page_are_marked(client):
    text = client.get("/heatmap/").content.decode()
    assert re.findall(r'<a href="([^"]*)" aria-current="(\w+)"', text) == [
        ("/benchmarks/", "true"),
        ("/heatmap/", "page"),
    ]
    assert 'class="behind"' not in client.get("/").content.decode()


@pytest.mark.django_db
def test_a_member_finds_labs_and_account_under_the_name(client, django_user_model):
    assert "Log in" in client.get("/glossary/").content.decode()
    user = django_user_model.objects.create_user("mei")
    client.force_login(user)
    text = client.get("/glossary/").content.decode()
    assert "<summary>mei</summary>" in text
    assert "Your labs" in text
    assert "Curation" not in text
    user.is_staff = True
    user.save()
    assert '<a href="/admin/">Curation</a>' in client.get("/glossary/").content.decode()
