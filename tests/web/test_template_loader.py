from django.template import engines
from django.template.loader import get_template

from stackviz.web.template_loader import CompactTemplate


def test_templates_compile_without_layout():
    template = get_template("base.html").template
    assert isinstance(template, CompactTemplate)
    html = get_template("home/home.html").render()
    assert "\n" not in html.partition("<style")[0]


def test_templates_of_apps_are_compiled_as_they_were_written():
    assert not isinstance(get_template("admin/base.html").template, CompactTemplate)


def test_template_that_overrides_an_apps_extends_it():
    """The one and the other have the same name: the loader must skip its own to find the app's."""
    index = get_template("admin/index.html").template
    assert isinstance(index, CompactTemplate)
    assert "extends" in index.source.splitlines()[0]


def test_template_is_compiled_once(settings):
    loader = engines["django"].engine.template_loaders[0]
    assert loader.get_template("base.html") is loader.get_template("base.html")
