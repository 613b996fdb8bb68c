"""The yardstick: as little Django as does the same work. No sessions, no CSRF, no policies, no parsing beyond JSON."""
