"""A record compared with itself, and with another one: its declarations, its verdicts."""
