"""A page needs no cache: when Redis is away it is made anew, and says nothing of it."""

import threading

from django.core.cache import cache

from stackviz.web.parts import cached_html

NOBODY_LISTENS = "redis://127.0.0.1:1/0"


def use_redis(settings, url):
    settings.CACHES = {"default": {"BACKEND": "stackviz.web.http.cache.ForgivingRedisCache", "LOCATION": url}}


def test_a_part_is_made_anew_while_redis_is_away(settings, caplog):
    use_redis(settings, NOBODY_LISTENS)
    assert [cached_html(("away",), lambda word=word: word, 60) for word in ("one", "two")] == ["one", "two"]
    assert len(caplog.records) == 1  # asked once, then left alone for a while


def test_a_part_is_kept_in_redis(settings, redis_url):
    use_redis(settings, redis_url)
    assert [cached_html(("there",), lambda word=word: word, 60) for word in ("one", "two")] == ["one", "one"]
    assert cache.get("nothing-of-this-name", "default") == "default"


def test_threads_learn_from_each_other_that_redis_is_away(settings, caplog):
    use_redis(settings, "redis://127.0.0.1:2/0")
    for _ in range(3):
        thread = threading.Thread(target=cache.get, args=("anything",))
        thread.start()
        thread.join()
    assert len(caplog.records) == 1
