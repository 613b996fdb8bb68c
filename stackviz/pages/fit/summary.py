"""A question of `/fit/` answered, for its page and its picture."""

from stackviz.pages.fit.answers import FitAnswer, answers_for, chosen_answers
from stackviz.pages.fit.evidence import FitEvidence, calibrations
from stackviz.pages.fit.query import FitQuery
from stackviz.pages.fit.shown import FitSummary, shown_summary
from stackviz.pages.fit.targets import fit_targets
from stackviz.records.catalog.queries import PublicCatalogue


def fit_answers(query: FitQuery, catalogue: PublicCatalogue, evidence: FitEvidence) -> list[FitAnswer]:
    """Of the chosen accelerators, one for each memory size; without any, of all that run the precision."""
    targets, fitted = fit_targets(catalogue), calibrations(evidence, catalogue)
    if query.chosen:
        return chosen_answers(query, targets, fitted)
    shown = [target for target in targets.values() if query.precision.runs_on(target.rated.vendor)]
    return answers_for(query, shown, fitted)


def fit_summary(query: FitQuery, catalogue: PublicCatalogue, evidence: FitEvidence) -> FitSummary:
    targets = fit_targets(catalogue)
    unknown = [targets[slug].name for slug in query.accelerators if not targets[slug].limits]
    return shown_summary(query, fit_answers(query, catalogue, evidence), unknown)
