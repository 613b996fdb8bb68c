"""A child that does as it should, noise on its standard output included."""

import sys

from stackviz.agent.children import answer_in_file

with answer_in_file() as (given, hand_back):
    print("a warning nobody asked for")
    for number in range(given["count"]):
        hand_back({"number": number})
    hand_back({"path_is_safe": "" not in sys.path})
