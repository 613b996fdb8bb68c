"""Golden copies: what a seeded site shows and answers, recorded at one commit and compared with another's.

    python -m tests.golden seed SITE                  a site's folder, filled through the doors that stay
    python -m tests.golden record DIR [--site SITE]   every page, answer and file of it; SITE is copied, not changed
    python -m tests.golden compare DIR1 DIR2          differences by page

`--tree FOLDER` runs another checkout's code: that of a release, of a branch.
"""
