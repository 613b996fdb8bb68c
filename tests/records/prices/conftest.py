from tests.records.catalog.fixtures import card, sheet_source

__all__ = ["card", "sheet_source"]
