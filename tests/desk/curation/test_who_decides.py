"""The page of a proposal says who may decide, and what a person who works alone can do."""

import pytest
from django.contrib.auth.models import Group, User
from django.urls import reverse

from stackviz.desk.curation.propose import propose
from stackviz.records.catalog.models import SpecValue


def person(name: str, *groups: str) -> User:
    user = User.objects.create_user(name, is_staff=True)
    user.groups.set(Group.objects.filter(name__in=groups))
    return user


@pytest.fixture
def proposed(bandwidth):
    """A function: the page of a person's proposal, as that person sees it."""

    def page(client, user):
        wanted = SpecValue.objects.select_related("source", "accelerator").get(pk=bandwidth.pk)
        wanted.value = "3352"
        proposal = propose(wanted, by=user, reason="the data sheet of 2024")
        client.force_login(user)
        return client.get(reverse("admin:catalog_proposal_change", args=[proposal.pk])).content.decode()

    return page


@pytest.mark.parametrize(("approvals", "is_enough"), [(2, False), (1, True)])
def test_a_lone_curator_is_told_who_decides(client, proposed, settings, approvals, is_enough):
    settings.CURATION_APPROVALS = approvals
    text = proposed(client, person("lone", "Curators", "Approvers"))
    assert ("One person is enough on this site" in text, 'value="approve"' in text) == (is_enough, is_enough)
    assert "CURATION_APPROVALS=1" in text
    for words in ("someone else must decide", "An administrator can add a second person"):
        assert (words in text) is not is_enough


def test_who_may_create_users_gets_the_link(client, proposed, settings):
    settings.CURATION_APPROVALS = 2
    text = proposed(client, User.objects.create_superuser("root"))
    assert reverse("admin:auth_user_add") in text
