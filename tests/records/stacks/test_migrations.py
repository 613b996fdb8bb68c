"""Migrations of the stacks' tables on rows that somebody added by hand."""

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

BEFORE, AFTER = ("stacks", "0001_squashed_0005_table_checks"), ("stacks", "0006_unfilled_roles")


@pytest.mark.django_db(transaction=True)
def test_gaps_added_by_hand_become_unfilled_roles():
    executor = MigrationExecutor(connection)
    old = executor.migrate([BEFORE]).apps
    source = old.get_model("catalog", "Source").objects.create(key="s", title="S", url="https://example.org/")
    stack = old.get_model("stacks", "Stack").objects.create(slug="mine", name="Mine", summary="S.")
    component = old.get_model("stacks", "Component")
    shared = {"layer": "library", "role": "collectives", "what_it_is": "I.", "what_it_does": "D.", "source": source}
    one, two = (component.objects.create(slug=name, name=name, **shared) for name in ("one", "two"))
    counterpart = old.get_model("stacks", "Counterpart")
    for row, text in ((one, "No one."), (two, "No two.")):
        counterpart.objects.create(component=row, other_stack=stack, relation="none", differs=text, source=source)
    counterpart.objects.create(component=one, other=two, relation="partial", differs="D.", source=source)
    executor = MigrationExecutor(connection)
    new = executor.migrate(executor.loader.graph.leaf_nodes()).apps
    [role] = new.get_model("stacks", "UnfilledRole").objects.all()
    assert (role.stack_id, role.role, role.explanation, role.done_by_id) == (
        stack.pk, "collectives", "No one. No two.", None,
    )  # fmt: skip
    assert new.get_model("stacks", "HistoricalUnfilledRole").objects.filter(id=role.pk, history_type="+").count() == 1
    assert new.get_model("stacks", "Counterpart").objects.count() == 1
