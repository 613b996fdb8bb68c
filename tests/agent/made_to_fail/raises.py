"""A child that prints a great deal and then raises."""

from stackviz.agent.children import answer_in_file

with answer_in_file() as (given, hand_back):
    print("x" * 200_000)
    raise ImportError(f"libcudart.so.{given['version']}: cannot open shared object file")
