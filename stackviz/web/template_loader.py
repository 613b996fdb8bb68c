"""Loads templates once for each process; the site's own are compiled without the white space of their layout."""

from pathlib import Path

from django.template import TemplateSyntaxError
from django.template.base import DebugLexer, Lexer, NodeList, Origin, Parser, Template
from django.template.loaders import base, cached

from stackviz.web.whitespace import compact


class CompactTemplate(Template):
    """A template compiled without the line breaks that only lay out its source (`web.whitespace`)."""

    def compile_nodelist(self) -> NodeList:
        """As Django's own, with `compact` between lexer and parser: errors still name the line of the source."""
        lexer = (DebugLexer if self.engine.debug else Lexer)(self.source)
        engine = self.engine
        parser = Parser(compact(lexer.tokenize()), engine.template_libraries, engine.template_builtins, self.origin)
        try:
            nodes = parser.parse()
        except TemplateSyntaxError as error:
            if engine.debug:  # the parser names the token it stopped at
                vars(error)["template_debug"] = self.get_exception_info(error, vars(error)["token"])
            raise
        self.extra_data = parser.extra_data
        return nodes


class _CompactingLoader(base.Loader):
    """Compiles the templates of the engine's own directories compactly; those of apps stay as they were written."""

    def get_template(self, template_name: str, skip: list[Origin] | None = None) -> Template:
        template = super().get_template(template_name, skip)
        if not any(Path(template.origin.name).is_relative_to(directory) for directory in self.engine.dirs):
            return template
        return CompactTemplate(template.source, template.origin, template.name, self.engine)


class Loader(cached.Loader, _CompactingLoader):
    """Django's cached loader, in front of the loaders it is given."""
