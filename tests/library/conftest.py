"""Leave the zoo out: tests copy its claims to another folder, and run them in other processes."""

collect_ignore = ["zoo"]
