"""What the tables refuse, by name."""

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from stackviz.records.catalog.models import Source
from stackviz.records.stacks.models import (
    Call,
    Component,
    Counterpart,
    Edition,
    Placement,
    Release,
    Requirement,
    Stack,
    UnfilledRole,
)


@pytest.fixture
def source(db):
    return Source.objects.create(key="s", title="A document", url="https://example.org/")


@pytest.fixture
def component(source):
    def make(slug: str, **changes) -> Component:
        sentences = {"what_it_is": "A thing.", "what_it_does": "It does."}
        return Component.objects.create(
            **{"slug": slug, "name": slug, "layer": "library", "role": "r", "source": source, **sentences, **changes}
        )

    return make


@pytest.fixture
def stack(db):
    return Stack.objects.create(slug="s", name="S", summary="Short.")


def refuses(name, create):
    with pytest.raises(IntegrityError, match=name), transaction.atomic():
        create()


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"layer": "attic"}, "component_layer_is_known"),
        ({"what_it_does": ""}, "component_is_described_in_two_sentences"),
    ],
)
def test_a_component_is_whole(component, changes, name):
    refuses(name, lambda: component("x", **changes))


def test_nothing_calls_itself_or_is_its_own_counterpart(component, stack, source):
    one = component("one")
    refuses("component_does_not_call_itself", lambda: Call.objects.create(stack=stack, caller=one, callee=one))
    row = Counterpart(component=one, other=one, relation="partial", differs="D.", source=source)
    refuses("component_is_not_its_own_counterpart", row.save)


def test_only_a_component_of_the_stack_does_a_job_there(component, stack, source):
    one = component("one")
    row = UnfilledRole(stack=stack, role="two", done_by=one, explanation="E.", source=source)
    with pytest.raises(ValidationError, match="Choose a component of this stack"):
        row.full_clean()
    Placement.objects.create(stack=stack, component=one)
    row.full_clean()
    row.save()
    with pytest.raises(ValidationError, match="A component of this stack has this role"):
        UnfilledRole(stack=stack, role=one.role, explanation="E.", source=source).full_clean()
    with pytest.raises(ValidationError, match="already exists"):
        UnfilledRole(stack=stack, role="two", explanation="E.", source=source).full_clean()


def test_a_requirement_says_how_much(component, source):
    release = Release.objects.create(component=component("one"), version="1", source=source)
    row = Requirement(release=release, relation="needs", subject="two", source=source)
    refuses("requirement_says_how_much", row.save)
    with pytest.raises(ValidationError):
        row.full_clean()


@pytest.mark.parametrize(
    ("date", "is_right"),
    [("2026-11", True), ("2026-11-20", True), ("2026", False), ("2026-13", False), ("soon", False)],
)
def test_a_release_date_is_a_day_or_a_month(component, source, date, is_right):
    release = Release(component=component("one"), version="1", source=source, released=date)
    if is_right:
        release.full_clean()
    else:
        with pytest.raises(ValidationError, match="released"):
            release.full_clean()


def test_every_saved_or_deleted_row_renews_the_edition(component):
    seen = {Edition.current()}
    one = component("one")
    for write in (lambda: None, one.save, one.delete):
        write()
        seen.add(Edition.current())
    assert len(seen) == 4
