"""How the catalogue is kept true: what changes a public value is proposed by one person and decided by a second.

`propose` and `decide` hold the workflow, `differences` says what a proposal changes, `formula_check` holds it against
its formula. `import_file`, `import_rows`, `import_plan` and `value_imports` take a table in; `forms` and `value_check`
help whoever types a value. Pages of the admin call these: `value_admin` is what they share, `review_queue` the review,
`import_admin` import and export. `unmatched_names`, `name_suggestions` and `name_decisions` are the work on names that
cards report and no accelerator has. `groups` makes those who may.
"""
