"""The zoo is a repository of its own, which tests run in processes of their own."""

collect_ignore = ["zoo"]
