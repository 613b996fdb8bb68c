"""The tools that printed a pasted text, as a page names them: a command as it is typed, or words in its language."""

from collections.abc import Iterable
from dataclasses import dataclass

from stackviz.report.dumps.machines import is_in_words, tool_name
from stackviz.web.finding_text import finding_words

__all__ = ["ToolName", "tool_label", "tools_of"]


@dataclass(frozen=True, slots=True)
class ToolName:
    """`is_command`: typed as it stands, so that no language changes it."""

    text: str
    is_command: bool


def tools_of(kinds: Iterable[str]) -> tuple[ToolName, ...]:
    """The tools that write dumps of these kinds, each once."""
    names = dict.fromkeys(map(tool_name, kinds))
    return tuple(ToolName(finding_words(name), not is_in_words(name)) for name in names)


def tool_label(kinds: Iterable[str]) -> str:
    """The same in one line of text."""
    return ", ".join(tool.text for tool in tools_of(kinds))
