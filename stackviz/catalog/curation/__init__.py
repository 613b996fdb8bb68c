"""How the catalogue is kept true: what changes a public value is proposed by one person and decided by a second.

`propose` and `decide` hold the workflow, `differ` says what a proposal changes, `prove` holds it against its formula.
`read`, `rows`, `plan` and `bring` take a table in; `pick` and `judge` help whoever types a value. Pages of the admin
call these: `desk` is what they share, `queue` the review, `tables` import and export. `groups` makes those who may.
"""
