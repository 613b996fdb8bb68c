"""The answer without a site and the site's drawings name layers and states alike."""

from stackviz.draw.diagrams.boxes import ALARMS, SEVERITY_STATES
from stackviz.draw.diagrams.layers import LAYER_TITLES as DRAWN
from stackviz.report.dumps.components import _WORST_FIRST, LAYER_TITLES, LAYERS
from stackviz.report.rules import Severity


def test_layers_have_the_titles_of_the_drawings_in_their_order():
    assert list(LAYER_TITLES.items()) == [(layer.value, title) for layer, title in DRAWN.items()]
    assert list(LAYERS) == list(LAYER_TITLES)


def test_findings_give_a_component_the_state_that_its_box_has():
    worst_first = [SEVERITY_STATES[severity] for severity in _WORST_FIRST]
    assert worst_first == list(reversed(ALARMS))
    assert [state.value for state in worst_first] == [severity.value for severity in _WORST_FIRST]
    others = set(Severity) - set(_WORST_FIRST)
    assert not {SEVERITY_STATES[severity] for severity in others} & set(ALARMS)
