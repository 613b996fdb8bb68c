"""`{% load facts %}`: how a fact of a report is written in a cell."""

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from stackviz.machines.facts import ShownFact

register = template.Library()


@register.simple_tag
def fact(shown: ShownFact) -> SafeString:
    """`{% fact row.cpu %}`: its text; or why it is missing, more of it on hover. A tag: lists hold hundreds of them."""
    if shown.text:
        return format_html("{}", shown.text)
    if shown.detail:
        return format_html('<span class="miss" title="{}">{}</span>', shown.detail, shown.missing)
    return format_html('<span class="miss">{}</span>', shown.missing)
