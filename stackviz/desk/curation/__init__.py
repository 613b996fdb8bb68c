"""Curation of the catalogue: one person proposes a change to a public value, a second person decides.

`propose` and `decide_proposals` hold the workflow, `differences` lists what a proposal changes and checks it with its
formula. `import_rows` and `import_plan` take a table in; `forms` help people who type a value. The admin calls these:
`value_admin` is what they share, `review_queue` the review, `import_admin` import and export. `unmatched_names`,
`name_suggestions` and `name_decisions` deal with names that cards report and no accelerator has. `apps` creates the
groups with their permissions.
"""
