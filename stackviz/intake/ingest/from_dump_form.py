"""The form that adds pasted machines to a lab: the labs a person can add to, and a name for each machine."""

import re
from collections.abc import Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext as _

from stackviz.records.labs.models import Lab
from stackviz.records.labs.queries import Visitor
from stackviz.records.labs.rights import WORKING_ROLES
from stackviz.report.dumps import DumpedMachine
from stackviz.report.dumps.machines import title_of

LONGEST_NAME = 60


def labs_to_add_to(user: Visitor) -> list[Lab]:
    """Labs for which this person may add machines: not those that they only see. One query."""
    if not user.is_authenticated:
        return []
    if getattr(user, "is_superuser", False):
        return list(Lab.objects.all())
    return list(Lab.objects.filter(memberships__user_id=user.pk, memberships__role__in=WORKING_ROLES))


class AddForm(forms.Form):
    """The lab, and a name for each machine of the text; one without a name is left out."""

    lab = forms.ChoiceField()

    def __init__(self, labs: Sequence[Lab], machines: Sequence[DumpedMachine], *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **kwargs)
        self.labs = {lab.slug: lab for lab in labs}
        self.machines = machines
        self.fields["lab"] = forms.ChoiceField(choices=[(lab.slug, lab.name) for lab in labs])
        for number, _machine in enumerate(machines, 1):
            self.fields[f"name-{number}"] = forms.CharField(max_length=LONGEST_NAME, required=False)

    @property
    def rows(self) -> list[tuple[DumpedMachine, forms.BoundField, str]]:
        """Each machine, the field of its name, and what computes in it."""
        return [
            (machine, self[f"name-{number}"], title_of(machine.reading))
            for number, machine in enumerate(self.machines, 1)
        ]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        names = [name for _machine, name in self.named(cleaned)]
        if not names and not self.errors:
            raise forms.ValidationError(_("Name at least one machine."))
        if len({name.casefold() for name in names}) < len(names):
            raise forms.ValidationError(_("Two machines cannot have the same name."))
        return cleaned

    def named(self, cleaned: dict[str, Any]) -> list[tuple[DumpedMachine, str]]:
        names = [
            re.sub(r"\s+", " ", cleaned.get(f"name-{number}") or "").strip()
            for number in range(1, len(self.machines) + 1)
        ]
        return [(machine, name) for machine, name in zip(self.machines, names, strict=True) if name]
