"""The cited benchmarks, one module a subject; `stackviz.cited.registry` finds them."""
