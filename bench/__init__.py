"""`make bench`: what this site costs against bare Django on the same server and database, in one run, as ratios."""
