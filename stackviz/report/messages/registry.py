"""All symptoms: every tuple SYMPTOMS that a module of `messages/` names."""

from stackviz.base.discovery import modules_of
from stackviz.report.messages import messages
from stackviz.report.messages.symptom import Symptom

__all__ = ["BY_KEY", "SYMPTOMS"]

SYMPTOMS: tuple[Symptom, ...] = tuple(symptom for module in modules_of(messages) for symptom in module.SYMPTOMS)
BY_KEY = {symptom.key: symptom for symptom in SYMPTOMS}
