"""How large a room may grow."""

from tools.rooms import MOST, lines_by_room


def test_no_room_has_more_than_a_tenth_of_the_code():
    lines = lines_by_room()
    total = sum(lines.values())
    assert len(lines) > 20
    assert {room: count for room, count in lines.items() if count > MOST * total} == {}
