"""Requests and answers: addresses, limits, caching, errors, downloads, and requests to other sites."""
