"""The admin's desk for stacks: every list and form opens, searches, and a correction is kept with its history."""

import pytest
from django.apps import apps

from stackviz.records.stacks.models import Component, Requirement, Stack

LISTS = ["stack", "component", "counterpart", "placement", "call", "release", "requirement", "stacksload"]


@pytest.mark.parametrize("name", LISTS)
def test_every_list_and_form_opens_and_searches(admin_client, stacks, django_assert_max_num_queries, name):
    pk = apps.get_model("stacks", name).objects.values_list("pk", flat=True).first()
    for page in ("", *(("?q=cudnn", f"{pk}/change/", "add/") if name != "stacksload" else ())):
        assert admin_client.get(f"/admin/stacks/{name}/{page}").status_code == 200
    with django_assert_max_num_queries(12):
        admin_client.get(f"/admin/stacks/{name}/")


@pytest.mark.parametrize(
    "query", ["component/?origin=files", "component/?origin=hand", "release/?end=known", "release/?end=unknown"]
)
def test_filters_answer(admin_client, stacks, query):
    assert admin_client.get(f"/admin/stacks/{query}").status_code == 200


def test_corrected_text_shows_on_page_and_in_history(admin_client, stacks):
    component = Component.objects.get(slug="cudnn")
    form = {
        "slug": "cudnn", "name": "cuDNN", "maker": "NVIDIA", "layer": "library", "role": "neural-network-kernels",
        "what_it_is": "Corrected by the admin.", "what_it_does": "It does.", "see_version": "", "install": "Ask the admin.", "docs_url": "",
        "source": component.source_id, "part_of": "",
        "counterparts-TOTAL_FORMS": 0, "counterparts-INITIAL_FORMS": 0,
    }  # fmt: skip
    response = admin_client.post(f"/admin/stacks/component/{component.pk}/change/", form)
    assert response.status_code == 302, response.content.decode()
    page = admin_client.get("/components/cudnn/").content.decode()
    assert "Corrected by the admin." in page
    assert "Ask the admin." in page
    assert component.history.first().history_user.username == "admin"


def test_empty_counterpart_is_refused_by_field(admin_client, stacks):
    form = {"component": Component.objects.get(slug="cudnn").pk, "relation": "same-role", "differs": "D.", "source": 1}
    response = admin_client.post("/admin/stacks/counterpart/add/", form)
    assert response.status_code == 200
    assert response.context["errors"]


def test_an_address_that_is_none_is_refused(admin_client, stacks):
    component = Component.objects.get(slug="cudnn")
    component.docs_url = "javascript:alert(1)"
    with pytest.raises(Exception, match="docs_url"):
        component.full_clean()


def test_a_stack_with_all_its_places_opens_in_few_queries(admin_client, stacks, django_assert_max_num_queries):
    pk = Stack.objects.get(slug="nvidia-cuda").pk
    admin_client.get(f"/admin/stacks/stack/{pk}/change/")
    with django_assert_max_num_queries(60):
        admin_client.get(f"/admin/stacks/stack/{pk}/change/")


def test_a_tool_is_put_beside_a_stack_and_shows_on_its_page(admin_client, stacks):
    form = {
        "stack": Stack.objects.get(slug="cpu").pk, "component": Component.objects.get(slug="nvitop").pk,
        "order": 9, "kind": "tool", "version": "", "role": "", "note": "",
    }  # fmt: skip
    assert admin_client.post("/admin/stacks/placement/add/", form).status_code == 302
    assert "nvitop" in admin_client.get("/stacks/cpu/").content.decode()


def test_nobody_edits_the_list_of_loads(admin_client, stacks):
    assert admin_client.get("/admin/stacks/stacksload/add/").status_code == 403


def test_strangers_stay_outside(client, db):
    assert client.get("/admin/stacks/component/").status_code == 302
    assert Requirement.objects.count() == 0
