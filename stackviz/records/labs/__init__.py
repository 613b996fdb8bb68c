"""Labs, members, machines, keys, reports as sent, snapshots, cards, findings."""
