"""A way through the house counts files of ours, and where it goes back up."""

from tests.golden.walks import Walk


def walk(*steps: str) -> Walk:
    """`steps`: a file that is entered, or "" for a call's end."""
    made = Walk()
    for step in steps:
        if step:
            made.enter(step)
        else:
            made.stack.pop()
    return made


def test_files_are_counted_once_in_the_order_they_are_entered():
    made = walk("views.py", "load.py", "", "load.py", "units.py", "", "")
    assert made.files == ["views.py", "load.py", "units.py"]
    assert made.calls == {("views.py", "load.py"), ("load.py", "units.py")}
    assert made.returns == set()


def test_call_into_a_waiting_file_counts_as_up():
    assert walk("views.py", "cache.py", "views.py").returns == {("cache.py", "views.py")}


def test_files_that_any_page_enters_are_passed_through():
    made = Walk(common=frozenset({"middleware.py"}))
    for step in ("middleware.py", "views.py", "middleware.py", "load.py"):
        made.enter(step)
    assert made.files == ["views.py", "load.py"]
    assert made.calls == {("views.py", "load.py")}
