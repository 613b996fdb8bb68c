"""Costly work leaves threads to pages: beyond so much of it at once, a process refuses more."""

import threading

import pytest

from stackviz.web.http.at_once import AGAIN_AFTER_S, COSTLY, AtOnce, Busy


@pytest.fixture
def taken():
    """Every place of COSTLY, by other threads."""
    over, taken = threading.Event(), threading.Semaphore(0)

    def hold():
        with COSTLY.slot():
            taken.release()
            over.wait(60)

    threads = [threading.Thread(target=hold) for _ in range(2)]
    for thread in threads:
        thread.start()
        taken.acquire()
    yield
    over.set()
    for thread in threads:
        thread.join()


def test_a_thread_takes_one_place_however_deep_it_is():
    slots = AtOnce("one", 1, "busy")
    for _ in range(2):
        with slots.slot(), slots.slot():
            pass


def test_text_is_refused_at_once_and_stays_in_the_form(client, db, taken):
    answer = client.post("/diagnose/", {"text": "NVIDIA-SMI 580.65"})
    assert (answer.status_code, answer.headers["Retry-After"]) == (429, str(AGAIN_AFTER_S))
    page = answer.content.decode()
    assert "The site is busy with other texts" in page
    assert "NVIDIA-SMI 580.65" in page
    answer = client.post("/api/v1/diagnose/", "NVIDIA-SMI 580.65", content_type="text/plain")
    assert (answer.status_code, answer.headers["Retry-After"]) == (429, str(AGAIN_AFTER_S))


def test_pages_are_served_beside_it(client, db, taken):
    assert client.get("/diagnose/").status_code == 200


def test_place_is_given_back_after_an_error():
    slots = AtOnce("one", 1, "busy")
    with pytest.raises(ZeroDivisionError), slots.slot():
        raise ZeroDivisionError
    with slots.slot():
        pass


def test_more_than_there_are_places_is_busy(taken):
    with pytest.raises(Busy, match=r"busy with other texts, pictures and files; wait 3 s"), COSTLY.slot():
        pass
