"""A line that reports an error and that no message explains: which program it is of, and what tells more."""

from collections.abc import Iterator

from stackviz.base.sentence import join_sentences, say
from stackviz.report.messages.named_programs import PROGRAMS_BY_KEY, NamedProgram
from stackviz.report.messages.of_findings import QUOTES_UNEXPLAINED
from stackviz.report.rules.compatibility import RuleSource, Tables
from stackviz.report.rules.look import Look
from stackviz.report.rules.rule import Conclusion, RuleSet, Severity

RULES = RuleSet(order=2100)  # below the messages that are explained

PYTHON_ERRORS = RuleSource(
    "python-errors", "Python, Errors and Exceptions", "https://docs.python.org/3/tutorial/errors.html"
)


@RULES.rule(
    QUOTES_UNEXPLAINED,
    "python",
    asks="the text has no error that no rule explains",
    worst=Severity.WARNING,
    source=PYTHON_ERRORS,
    last_resort=True,
)
def check_unexplained_errors(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    """Silent where something is broken: the line is most likely what follows from it."""
    line = look.get("message.unexplained")
    program = PROGRAMS_BY_KEY.get(look.get("message.program") or "")
    mention = look.get("message.program_word")
    if look.broken_rules or (line is None and mention is None):
        return
    if line is None and program:
        yield _about(program, Severity.NOTE, say("The text names {word}, and has no error and no output", mention))
    elif line and program:
        whose = (
            say("No rule explains this line; the text around it names {word}.", mention)
            if mention
            else say("No rule explains this line. It is of {program}.", program.name)
        )
        yield _about(program, Severity.WARNING, line, whose)
    elif line:
        yield Conclusion(
            severity=Severity.WARNING,
            title=line,
            explanation=say("No rule explains this line, and it names no program that is known here."),
            advice=say("Paste all of the output, from the command to its end."),
        )


def _about(program: NamedProgram, severity: Severity, title: str, *whose: str) -> Conclusion:
    """What is known of the program, and the command that tells more."""
    return Conclusion(
        severity=severity,
        title=title,
        explanation=join_sentences([*whose, program.known]),
        advice=say("Run this and paste what it prints: {ask}", say(program.ask)),
        component=program.component,
        source=RuleSource(program.key, program.source_title, program.source_url),
    )
