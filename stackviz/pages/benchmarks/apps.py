from django.apps import AppConfig


class BenchmarkPagesConfig(AppConfig):
    name = "stackviz.pages.benchmarks"
    label = "benchmark_pages"  # stackviz.records.series has the plain one
