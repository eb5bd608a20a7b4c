"""What the suite does when something is broken."""
