"""What every floor may use: standard library only, no Django, imports nothing of ours."""
