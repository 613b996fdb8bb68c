"""How the catalogue is kept true: what changes a public value is proposed by one person and decided by a second.

`propose` and `decide` hold the workflow, `differ` says what a proposal changes, `read`, `plan` and `confirm` bring a
table in, `export` brings one out, `pick` and `judge` help whoever types a value. Pages of the admin call these.
"""
