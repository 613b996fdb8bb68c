"""Without Redis bells are files under var/broker, and as little depends on them."""

import time

from tests.ingest.senders import Sender, box_of, counts


def test_reports_survive_dead_workers_without_redis(new_site):
    site = new_site(REQUEUE_EVERY_S="1", LOG_LEVEL="WARNING")
    key = site.new_key()
    site.start_web()
    site.start_worker(beat=True)
    sender = Sender(site, key, box_of(60), pause_s=0.05)
    sender.start()
    for death in range(2):
        time.sleep(0.5)
        site.kill("worker")
        (site.folder / "worker.log").rename(site.folder / f"worker-{death}.log")
        site.start_worker(beat=True)
    sender.join(60)
    assert set(sender.answers) == {202}
    site.wait_until(lambda: counts(site)["status"] == {"read": 60}, "every report is read")
    assert counts(site)["results"] == 120
