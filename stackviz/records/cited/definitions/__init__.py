"""The cited benchmarks, one module a subject; `stackviz.records.cited.registry` finds them."""
