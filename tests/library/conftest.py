"""Leave the zoo out: it is a separate repository, which tests run in other processes."""

collect_ignore = ["zoo"]
