"""The assertions of the races, run by tests/postgres and by tests/intake/ingest/test_sqlite_races.py on their databases."""

from django.db import connection

from tests.intake.ingest import races
from tests.intake.ingest.races import READERS, SENDERS
from tests.report.format.reports import sha256


class Races:
    """Collected only where a subclass names its database."""

    def test_one_report_from_eight_senders_at_once_is_one_row(self):
        answers, reports, machines = races.senders_of_one_report()
        assert (answers, reports, machines) == ({202: 1, 200: SENDERS - 1}, 1, 1)

    def test_one_id_accepts_one_content(self):
        answers, reports = races.senders_of_two_contents_under_one_id()
        assert reports == 1
        assert answers == {202: 1, 200: SENDERS // 2 - 1, 409: SENDERS // 2}

    def test_eight_first_reports_of_a_machine_make_one_machine(self):
        assert races.first_reports_of_one_machine() == ({202: SENDERS}, SENDERS, 1)

    def test_eight_machines_of_one_name_get_eight_addresses(self):
        assert races.first_reports_of_machines_with_one_name() == ({202: SENDERS}, SENDERS)

    def test_announced_machine_race_has_one_winner(self):
        answers, identities = races.announced_machine_with_two_first_reports()
        assert answers == {202: SENDERS // 2, 403: SENDERS // 2}
        assert len(identities) == 1

    def test_concurrent_readers_count_a_report_once(self):
        answers, rows, findings_are_there_once = races.readers_of_one_report()
        assert answers == {"read": SENDERS}
        assert rows == {"Snapshot": 1, "Card": 1, "Series": 2, "Result": 2}
        assert findings_are_there_once

    def test_requeued_report_is_stored_once(self):
        answers, rows, written = races.readers_of_a_report_put_back()
        assert answers == {"read": READERS}
        assert rows == {"Snapshot": 1, "Card": 1, "Series": 2, "Result": 2}
        assert written == 2

    def test_concurrent_workers_share_series(self):
        answers, rows, points_at_newest = races.readers_of_reports_with_the_same_new_series()
        assert answers == {"read": SENDERS}
        assert rows == {"Snapshot": SENDERS, "Card": SENDERS, "Series": 40, "Result": 40 * SENDERS}
        assert points_at_newest

    def test_reports_are_deleted_while_others_of_their_series_are_read(self):
        answers, reports, results = races.readers_beside_deletions()
        assert answers == ["read"] * 12
        assert (reports, results) == (13, 26)

    def test_overlapping_batches_are_stored_once(self):
        answers, rows = races.readers_of_overlapping_batches()
        assert answers == {"read"}
        assert rows == {"Snapshot": 12, "Card": 12, "Series": 8, "Result": 24}

    def test_one_withdrawal_sent_by_eight_at_once_is_one_decision(self):
        assert races.withdrawals_of_one_result() == (["the fan was off"], {"withdrawn"})

    def test_no_report_is_lost_or_left_behind_by_a_merge(self):
        answers, rows, places, wrong = races.merges_beside_uploads_and_readers()
        assert answers == {202}
        assert rows == {"Report": 30, "Snapshot": 30, "Card": 30, "Series": rows["Series"], "Result": 30}
        assert places == {"Report": {0}, "Snapshot": {0}, "Result": {0}}
        assert wrong == 0

    def test_one_merge_sent_by_eight_at_once_is_one_merge(self):
        merges, reports, told = races.one_merge_sent_by_eight_at_once()
        assert (merges, reports) == (1, 4)
        assert told == {"m was merged into another machine meanwhile."}

    def test_a_report_withdrawn_while_it_is_read_again_stays_withdrawn(self):
        assert races.withdrawal_beside_a_reader() == [("withdrawn", {"withdrawn"}, False)] * 6

    def test_a_split_and_an_upload_that_want_one_address_get_two(self):
        status, slugs = races.split_beside_an_upload_of_its_slug()
        after_the_split, after_the_upload = ["box", f"box-{sha256('new')[:8]}"], ["box", "box-2"]
        assert status == 202
        assert slugs == (after_the_upload if connection.vendor == "postgresql" else after_the_split)
