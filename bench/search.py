"""How long one search takes with many machines: `python -m bench.search [--machines 100000] [--rounds 5]`.

On the database of the environment (VAR_DIR or DATABASE_URL), which must be loaded. The machines are made within a
transaction that is rolled back. Prints how many of the searches of the tests have the wanted answer among their first
three beside so many machines, and the median and the slowest tenth of all searches, in milliseconds.
"""

import argparse
import os
import statistics
import time

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "accelweb.settings")
WORDS = ("rack", "node", "gpu", "mac", "box", "lab", "dgx", "ws", "studio", "edge")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--machines", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    django.setup()
    from django.db import connection, transaction

    with transaction.atomic():
        add_machines(options.machines)
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
        print(wanted_answers())
        took = search_times(options.rounds)
        transaction.set_rollback(True)
    for of, times in zip(("wall", "processor"), zip(*took, strict=True), strict=True):
        p50, p90 = statistics.median(times), sorted(times)[int(len(times) * 0.9)]
        figures = f"p50 {p50:.1f}, p90 {p90:.1f}, most {max(times):.1f} ms"
        print(f"{connection.vendor}, {options.machines:,} machines, {of}: {figures}")


def add_machines(count: int) -> None:
    from stackviz.pages.search.words_of_machines import write_words
    from stackviz.records.labs.models import Lab, Machine

    lab = Lab.objects.create(name="Search bench", slug="search-bench", is_public=True)
    names = (f"{WORDS[number % len(WORDS)]}-{number:06}" for number in range(count))
    Machine.objects.bulk_create((Machine(lab=lab, name=name, slug=name) for name in names), batch_size=1000)
    write_words(Machine.objects.filter(lab=lab))


def wanted_answers() -> str:
    """`50 of 50 have the wanted answer among the first three`, with the others."""
    from django.contrib.auth.models import AnonymousUser

    from stackviz.pages.search.answers import ranked_hits
    from tests.pages.search.searches import SEARCHES

    lacking = [
        query
        for query, wanted in SEARCHES.items()
        if not any(wanted in hit.entry.url for hit in ranked_hits(AnonymousUser(), query)[:3])
    ]
    found = f"{len(SEARCHES) - len(lacking)} of {len(SEARCHES)} have the wanted answer among the first three"
    return f"{found}; not: {', '.join(lacking)}" if lacking else found


def search_times(rounds: int) -> list[tuple[float, float]]:
    """(ms by the clock, ms of processor) of each search, the index prepared: those of the tests, and of machines."""
    from django.contrib.auth.models import AnonymousUser

    from stackviz.pages.search.answers import answer_search
    from tests.pages.search.searches import SEARCHES

    queries = [*SEARCHES, "rack-000100", "studio 0909", "rack", "no such machine"]
    answer_search(AnonymousUser(), "h100")
    took = []
    for _round in range(rounds):
        for query in queries:
            start, busy = time.perf_counter(), time.process_time()
            answer_search(AnonymousUser(), query)
            took.append(((time.perf_counter() - start) * 1000, (time.process_time() - busy) * 1000))
    return took


if __name__ == "__main__":
    main()
